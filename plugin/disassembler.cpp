// Disassembly by LLVM, through LLDB. LLDB's command thread, or the thread of a program that has
// loaded liblldb.
#include "plugin/disassembler.h"

#include <lldb/API/LLDB.h>

namespace gnomon::plugin {
namespace {

// LLDB decodes for a target. This one is of a debugger of its own: the user's has it in no list.
lldb::SBTarget& machine() {
  static lldb::SBTarget* const target = [] {
    lldb::SBError error;
    return new lldb::SBTarget(
        lldb::SBDebugger::Create(false).CreateTarget("", "x86_64-pc-linux-gnu", "", false, error));
  }();
  return *target;
}

std::string text_of(const char* text) { return text ? text : ""; }

}  // namespace

Result<std::vector<reader::Instruction>> LldbDisassembler::decode(
    std::span<const unsigned char> code, std::uint64_t address) {
  lldb::SBTarget target = machine();
  if (!target.IsValid())
    return fault("LLDB cannot decode x86-64 instructions", "use an LLDB that was built for x86");
  lldb::SBInstructionList list = target.GetInstructionsWithFlavor(
      lldb::addr_t{address}, flavor_.c_str(), code.data(), code.size());
  std::vector<reader::Instruction> instructions;
  for (std::uint32_t i = 0; i < list.GetSize(); ++i) {
    lldb::SBInstruction each = list.GetInstructionAtIndex(i);
    if (each.GetByteSize() == 0) break;
    instructions.push_back({each.GetAddress().GetLoadAddress(target), each.GetByteSize(),
                            text_of(each.GetMnemonic(target)), text_of(each.GetOperands(target))});
  }
  return instructions;
}

}  // namespace gnomon::plugin

// For the program gnomon, which loads liblldb and then this.
extern "C" [[gnu::visibility("default")]] gnomon::reader::Disassembler* gnomon_disassembler() {
  lldb::SBDebugger::Initialize();
  static gnomon::plugin::LldbDisassembler disassembler("default");
  return &disassembler;
}
