// Names of the kernel's functions, for the reader: the file kernel.jsonl. In gnomon-sampler.
#pragma once
#include <cstdint>
#include <future>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "libcollector/format/control.h"
#include "libcollector/format/events.h"
#include "libcollector/record/experiment_directory.h"

namespace gnomon::outside {

// A process sees the kernel's addresses only if kernel.kptr_restrict and its rights allow it
// (proc(5), /proc/sys/kernel/kptr_restrict).
class KernelSymbols {
 public:
  // A call stack has that address.
  void note(std::uint64_t pc) {
    if (known_.insert(pc).second) fresh_.push_back(pc);
  }
  // Returns what a thread waits for that has called from there: unknown where that function does
  // not say so. Reads /proc/kallsyms likewise.
  format::ThreadState wait_in(std::uint64_t pc);
  bool has_names();
  // Begins to read it, on a thread of its own.
  void begin_reading();
  // Writes the functions of what was noted since, a line each. Reads /proc/kallsyms the first time,
  // which takes a tenth of a second.
  void write(const collector::ExperimentDirectory& directory, std::uint64_t session);

 private:
  struct Symbol {
    std::uint64_t begin;
    std::uint32_t name, length;  // in names_
    std::uint32_t module, module_length;
  };
  void read();
  void need();
  // The first symbol behind that address.
  std::vector<Symbol>::const_iterator behind_of(std::uint64_t address) const;
  const Symbol* find(std::uint64_t pc) const;

  std::vector<Symbol> symbols_;  // by address
  std::string names_;            // the text of /proc/kallsyms
  bool is_read_ = false;
  std::future<void> reading_;
  std::unordered_set<std::uint64_t> known_, written_;  // addresses; beginnings of functions
  std::unordered_map<std::uint64_t, format::ThreadState> waits_;  // by address
  std::vector<std::uint64_t> fresh_;
};

}  // namespace gnomon::outside
