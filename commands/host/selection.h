// Which events reports are about, as the user has chosen. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/base/result.h"
#include "reader/report/asked/selection.h"

namespace gnomon::commands {

// What is empty selects everything.
class Selection {
 public:
  // Takes an expression in place of all that was selected before. Fault: it does not parse.
  Result<void> set_filter(const std::string& expression);
  // list: as `selection_filter` takes it; "all" selects everything of the kind.
  Result<void> select(const reader::SelectionKind& kind, const std::string& list);

  const std::string& filter() const { return filter_; }
  const std::string& selected(const reader::SelectionKind& kind) const;
  // Returns an expression that selects an event if all that was chosen selects it, and each of the
  // expressions `more`; empty: every event.
  std::string expression(const std::vector<std::string>& more = {}) const;

 private:
  struct List {
    std::string token, text, expression;
  };
  std::string filter_;
  std::vector<List> lists_;
};

}  // namespace gnomon::commands
