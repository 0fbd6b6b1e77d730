// Disassembly by LLVM, through LLDB. LLDB's command thread, or the thread of a program that has
// loaded liblldb.
#pragma once
#include <string>

#include "commands/host/host.h"

namespace gnomon::plugin {

class LldbDisassembler : public reader::Disassembler {
 public:
  // flavor: LLDB's setting target.x86-disassembly-flavor; "default" is that of AT&T.
  explicit LldbDisassembler(std::string flavor) : flavor_(std::move(flavor)) {}

  Result<std::vector<reader::Instruction>> decode(std::span<const unsigned char> code,
                                                  std::uint64_t address) override;

 private:
  std::string flavor_;
};

}  // namespace gnomon::plugin
