// What the reports of allocations have in common. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/report/asked.h"
#include "reader/table/table.h"

namespace gnomon::reader {

struct ListedStack {
  Row values;
  std::vector<PlaceId> path;  // the caller of the allocator first
};

// The lines that call stacks pass.
class HeapStacks {
 public:
  // metrics: those of the report. Fault: nothing of the heap was recorded, or the user interrupted.
  static Result<HeapStacks> of(Analysis& analysis, const View& view, const MetricList& metrics);

  // From the caller of the allocator on.
  std::vector<PlaceId> path_of(std::size_t part, std::uint32_t stack) const {
    return places_->path_of(part, stack);
  }
  // "main, line 3 in "a.c"", or the function's name alone where the line is not known.
  std::string name_of(PlaceId place) const;
  // Those of a call stack, the innermost first; one that says so if there is none.
  std::vector<std::string> names_of(const std::vector<PlaceId>& path) const;
  // Appends a row for each frame of each stack, the first with the stack's values, and the columns
  // that those rows need.
  Result<void> list(Table& table, std::vector<Column> columns,
                    const std::vector<ListedStack>& stacks, const View& view) const;
  // Puts what was lost above a table.
  Result<Table> with_losses(Table table, const Analysis& analysis) const;

 private:
  HeapStacks(AskedPlaces asked, const PlaceProfile& places)
      : asked_(std::move(asked)), places_(&places) {}

  AskedPlaces asked_;
  const PlaceProfile* places_;
};

// "1 leak", "2 leaks"
std::string counted(std::uint64_t count, const char* what);

}  // namespace gnomon::reader
