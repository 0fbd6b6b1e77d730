// Selections of threads, CPUs and samples by their numbers, as er_print's `thread_select` takes
// them. Any thread.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "reader/base/result.h"

namespace gnomon::reader {

struct SelectionKind {
  std::string_view singular, plural;  // "thread", "threads"
  std::string_view token;             // the property that is the number
};
inline constexpr SelectionKind kThreadSelection{"thread", "threads", "THRID"};
inline constexpr SelectionKind kCpuSelection{"CPU", "CPUs", "CPUID"};
inline constexpr SelectionKind kParallelismSelection{"parallelism", "numbers of threads",
                                                     "PARALLELISM"};
inline constexpr SelectionKind kSampleSelection{"sample", "samples", "SAMPLE"};

// text: "[EXPERIMENTS:]LIST[+[EXPERIMENTS:]LIST]...", where a LIST is all, none, or numbers and
// ranges of them with commas between. Returns the expression that is true for the events which are
// selected; empty: all are. Fault: it is no such text.
Result<std::string> selection_filter(const SelectionKind& kind, const std::string& text);

}  // namespace gnomon::reader
