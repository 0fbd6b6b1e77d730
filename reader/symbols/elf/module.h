// A load object's file with its debug file, as libdwfl has them. Any thread, one at a time.
#pragma once
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/symbols/elf/debug_file.h"
#include "reader/symbols/elf/symbol_index.h"

namespace gnomon::reader {

class Module {
 public:
  // Fault: it is no such file, another one than was recorded, or damaged.
  static Result<Module> open(const ObjectSource& source, const FileIdentity& identity,
                             const Interrupt& interrupt);

  Dwfl_Module* get() const { return module_; }
  Elf* elf() const { return elf_; }
  // What libdwfl adds to addresses of the file.
  std::uint64_t bias() const { return bias_; }
  std::uint64_t bytes_on_disk() const { return bytes_; }
  // Does not ask the interrupt of `open` any more.
  void outlive_interrupt() { search_->interrupt = {}; }
  // The debug file, once symbols or DWARF were asked for; null: there is none.
  const char* debug_file() const;

 private:
  struct DwflEnd {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  std::unique_ptr<DebugSearch> search_;  // the module's userdata
  std::unique_ptr<Dwfl, DwflEnd> dwfl_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  GElf_Addr bias_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace gnomon::reader
