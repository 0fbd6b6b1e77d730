// Names of the kernel's functions, for the reader: the file kernel.jsonl. In gnomon-sampler.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
  KernelSymbols();
  // A call stack has that address.
  void note(std::uint64_t pc) {
    if (known_.insert(pc).second) fresh_.push_back(pc);
  }
  // Returns what a thread waits for that has called from there: unknown where that function does
  // not say so. Reads /proc/kallsyms likewise.
  format::ThreadState wait_in(std::uint64_t pc);
  bool has_names();
  // Begins to read /proc/kallsyms once a second has gone by, so that a short program ends first: on
  // a thread of its own, which ranks last.
  void begin_reading();
  // Returns false until it has been read, for two seconds at most: who needs it now takes the CPU
  // from the program, and waits.
  bool is_at_hand();
  // Writes the functions of what was noted since, a line each. Reads /proc/kallsyms the first time,
  // which takes a tenth of a second.
  void write(const collector::ExperimentDirectory& directory, std::uint64_t session);
  // The same, but not as long as the names are not at hand.
  void write_if_at_hand(const collector::ExperimentDirectory& directory, std::uint64_t session);

 private:
  struct Symbol {
    std::uint64_t begin;
    std::uint32_t name, length;  // in names_
    std::uint32_t module, module_length;
  };
  struct Table {
    std::vector<Symbol> symbols;  // by address
    std::string names;            // the text of /proc/kallsyms
    std::atomic<bool> is_read = false, is_unwanted = false;
    void read();

   private:
    void read_text();
    void add(std::string_view line);
  };
  void need();
  std::string_view name_of(const Symbol& symbol) const {
    return std::string_view(table_->names).substr(symbol.name, symbol.length);
  }
  // The first symbol behind that address.
  std::vector<Symbol>::const_iterator behind_of(std::uint64_t address) const;
  const Symbol* find(std::uint64_t pc) const;

  std::shared_ptr<Table> table_, reading_;   // the second: its thread may outlive this object
  std::uint64_t begin_, reading_since_ = 0;  // CLOCK_MONOTONIC, ns
  std::unordered_set<std::uint64_t> known_, written_;  // addresses; beginnings of functions
  std::unordered_map<std::uint64_t, format::ThreadState> waits_;  // by address
  std::vector<std::uint64_t> fresh_;
};

}  // namespace gnomon::outside
