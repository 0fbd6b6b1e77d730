// Reports: each turns an experiment into a table. Any thread.
#pragma once
#include <cstddef>
#include <string>

#include "reader/base/result.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// Functions with exclusive and inclusive User CPU time, <Total> first, then by exclusive time.
// limit: rows; 0: all.
Result<Table> functions_report(const std::string& experiment, std::size_t limit);

// For each function, by exclusive time, what its callers and its callees contribute. limit:
// functions; 0: all.
Result<Table> callers_callees_report(const std::string& experiment, std::size_t limit);

// The same of the function that `name` means; several: number, from 1, says which.
Result<Table> csingle_report(const std::string& experiment, const std::string& name,
                             std::size_t number);

// Who calls whom, from <Total> down, heavy branches first. limit: the heaviest rows; 0: all.
Result<Table> calltree_report(const std::string& experiment, std::size_t limit);

// What is recorded, how, and what was lost.
Result<Table> status_report(const std::string& experiment);

}  // namespace gnomon::reader
