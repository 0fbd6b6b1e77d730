// The analyses of the experiments that were asked for last. Any thread, one at a time.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/analysis/span.h"

namespace gnomon::reader {

// Which events of experiments count, and how they are shown.
struct EventChoice {
  SpanChoice span = {};
  std::string filter = {};  // an expression; empty: all
  ProfileStyle style = {};
};

// Of the whole recordings and of a few spans of them.
class AnalysisCache {
 public:
  // What the process of that header is doing; asked only if the span depends on it.
  using ProgressOf = std::function<Progress(const Experiment&)>;

  // Symbols are loaded anew if these files are others than those of the last call.
  void use_debug_files(const DebugFiles& files);
  void use_expansions(const Expansions& expansions);
  // Opens the experiments, or reads what is new in them. The analysis is valid until the next call.
  Result<Analysis*> get(const std::vector<std::string>& directories, const EventChoice& choice,
                        const ProgressOf& progress, const Interrupt& interrupt);
  const std::vector<std::string>& directories() const { return directories_; }
  // Of the profile that was made last, <Total> and the like not; empty: there is none.
  std::vector<std::string> function_names() const;

 private:
  void forget();
  bool is_other_run(const Analysis& opened) const;
  Result<std::vector<Span>> spans_of(const SpanChoice& choice, const Analysis& opened,
                                     const ProgressOf& progress);
  Result<Analysis*> find(const EventChoice& choice, const ProgressOf& progress, bool& was_kept);

  std::vector<std::string> directories_;
  DebugFiles debug_files_;
  Expansions expansions_;
  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Analysis>> kept_;  // used last: the last one
};

}  // namespace gnomon::reader
