// Where a thread of a running process waits. Any thread; stops nothing.
#include "injector/attach/remote/live_wait.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace gnomon::injector {
namespace {

std::string text_of(pid_t pid, pid_t thread) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, thread));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// "1 0x3 0x7f.. 0x.. 0x.. 0x.. 0x.. 0x7ffe.. 0x7f..": the number, six arguments, the stack pointer
// and the program counter. What stands there before and after the walk held meanwhile.
std::optional<LiveWait> live_wait_of(pid_t pid, pid_t thread, RemoteStacks& stacks) {
  constexpr int kArguments = 6, kRsp = 7, kRip = 16;
  const std::string text = text_of(pid, thread);
  LiveWait found;
  char* at = nullptr;
  found.call = std::strtol(text.c_str(), &at, 10);
  if (at == text.c_str() || found.call < 0) return std::nullopt;
  for (int i = 0; i < kArguments; ++i) {
    const std::uint64_t argument = std::strtoull(at, &at, 16);
    if (i == 0) found.argument = argument;
  }
  DwarfRegisters registers{};
  registers[kRsp] = std::strtoull(at, &at, 16);
  registers[kRip] = std::strtoull(at, &at, 16);
  found.stack = stacks.walk(registers);
  if (text_of(pid, thread) != text) return std::nullopt;
  return found;
}

bool may_look_at_waits(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/syscall", pid));
  std::string word;
  return static_cast<bool>(file >> word);
}

}  // namespace gnomon::injector
