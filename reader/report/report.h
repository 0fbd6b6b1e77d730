// Reports: each turns an experiment into a table. Any thread.
#pragma once
#include <string>

#include "reader/base/result.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// Functions with exclusive and inclusive User CPU time, <Total> first, then by exclusive time.
Result<Table> functions_report(const std::string& experiment);

// What is recorded, how, and what was lost.
Result<Table> status_report(const std::string& experiment);

}  // namespace gnomon::reader
