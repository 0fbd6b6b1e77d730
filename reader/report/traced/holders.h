// Names of the threads that held what others waited for. Any thread.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "reader/analysis/analysis.h"
#include "reader/analysis/thread_names.h"

namespace gnomon::reader {

class HolderNames {
 public:
  explicit HolderNames(const Analysis& analysis)
      : analysis_(analysis), names_(thread_names(analysis)) {}

  // Empty if it is not known, or the program's: a thread that nobody has named has that.
  std::string name_of(std::size_t part, std::uint32_t thread) const;

 private:
  const Analysis& analysis_;
  ThreadNames names_;
};

// By part and number.
using Holders = std::set<std::pair<std::size_t, std::uint32_t>>;

// "logger (78)", "thread 78", "3 threads worker". name: of all of them; holders: at least one.
std::string holder_text(const std::string& name, const Holders& holders);

}  // namespace gnomon::reader
