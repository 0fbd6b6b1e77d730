// Reports: each turns an experiment into a table. Any thread.
#pragma once
#include <cstddef>
#include <string>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/table/table.h"

namespace gnomon::reader {

struct Query {
  std::string experiment;  // its directory
  std::size_t limit = 0;   // 0: all
  Interrupt interrupt = {};
};

// Functions with exclusive and inclusive User CPU time, <Total> first, then by exclusive time.
// limit: rows.
Result<Table> functions_report(const Query& query);

// For each function, by exclusive time, what its callers and its callees contribute. limit:
// functions.
Result<Table> callers_callees_report(const Query& query);

// The same of the function that `name` means; several: number, from 1, says which.
Result<Table> csingle_report(const Query& query, const std::string& name, std::size_t number);

// Who calls whom, from <Total> down, heavy branches first. limit: the heaviest rows.
Result<Table> calltree_report(const Query& query);

// What is recorded, how, and what was lost.
Result<Table> status_report(const Query& query);

}  // namespace gnomon::reader
