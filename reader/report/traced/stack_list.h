// Call stacks in reports of traced calls. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/report/asked/asked.h"
#include "reader/table/table.h"

namespace gnomon::reader {

struct ListedStack {
  Row values;
  std::vector<PlaceId> path;  // the caller of the traced function first
  std::string leaf = {};      // stands for that function, if it is not empty
};

// The lines that call stacks pass.
class StackList {
 public:
  // metrics: those of the report. Fault: the user interrupted.
  static Result<StackList> of(Analysis& analysis, const View& view, const MetricList& metrics);

  // From the caller of the traced function on.
  std::vector<PlaceId> path_of(std::size_t part, std::uint32_t stack) const {
    return places_->path_of(part, stack);
  }
  // The innermost line of a call stack that is not of the language's runtime library; the innermost
  // of all where each is. None: the call stack is empty.
  std::optional<PlaceId> own_place(const std::vector<PlaceId>& path) const;
  // The call stack from that line on.
  std::vector<PlaceId> own_path(const std::vector<PlaceId>& path) const;
  // The same, with the function of a library that it has called before.
  std::vector<PlaceId> called_path(const std::vector<PlaceId>& path) const;
  // "main, line 3 in "a.c"", or the function's name alone where the line is not known.
  std::string name_of(PlaceId place) const;
  // The function's name alone.
  std::string function_of(PlaceId place) const;
  // Names the frames of a call stack, the innermost first. Returns the one name <no call stack> for
  // an empty one.
  std::vector<std::string> names_of(const std::vector<PlaceId>& path) const;
  // Appends a row for each frame of each stack, the first with the stack's values, and the columns
  // that those rows need.
  Result<void> list(Table& table, std::vector<Column> columns,
                    const std::vector<ListedStack>& stacks, const View& view) const;
  // Puts what was lost above a table.
  Result<Table> with_losses(Table table, const Analysis& analysis) const;

 private:
  std::size_t own_part(const std::vector<PlaceId>& path) const;
  StackList(AskedPlaces asked, const PlaceProfile& places)
      : asked_(std::move(asked)), places_(&places) {}

  AskedPlaces asked_;
  const PlaceProfile* places_;
};

// Returns true for code that a program's author does not call his own: of the libraries of C, C++
// and Rust. object: path of the load object.
bool is_of_runtime(std::string_view function, std::string_view object);

// Fault: says that nothing of the heap was recorded.
Result<void> has_heap(const Analysis& analysis);

// "1 leak", "2 leaks"
std::string counted(std::uint64_t count, const char* what);

}  // namespace gnomon::reader
