// The rows of the table of hostile programs: what programs may do, and a collector must not change.
#pragma once
#include <span>
#include <string>

namespace hostile {

// The findings of a row, a line each: the same each time, with a collector and without.
using Findings = std::string;

struct Row {
  const char* name;
  void (*run)(Findings& findings);
  bool ends_here = false;  // the process ends in it
};

std::span<const Row> rows_of_children();
std::span<const Row> rows_of_descriptors();
std::span<const Row> rows_of_ends();
std::span<const Row> rows_of_handlers();
std::span<const Row> rows_of_limits();
std::span<const Row> rows_of_threads();

// Appends a line.
void find(Findings& findings, const char* what, long value);
// Appends the numbers and kinds of the open descriptors. A collector may hold some above the limit,
// but not in a child.
enum class Numbers { all, below_limit };
void find_descriptors(Findings& findings, const char* where, Numbers which = Numbers::all);
// Allocates, locks and reads, so that each kind of traced call is made. Any thread.
void work(int rounds);

}  // namespace hostile
