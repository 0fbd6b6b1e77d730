// Reads /proc/self/task/TID/status and /syscall. Any context: raw system calls, 4 KiB of stack.
#include "libcollector/core/proc_status.h"

#include <cstring>

#include "libcollector/core/small_file.h"

namespace gnomon::collector {
namespace {

constexpr char kBefore[] = "/proc/self/task/";
constexpr std::size_t kPathBytes = sizeof kBefore + 10 + sizeof "/syscall";

// after: "/status" or "/syscall".
void write_path(std::uint32_t tid, const char* after, char* to) {
  char digits[10];
  std::size_t count = 0;
  do digits[count++] = static_cast<char>('0' + tid % 10);
  while ((tid /= 10) != 0);
  std::memcpy(to, kBefore, sizeof kBefore - 1);
  to += sizeof kBefore - 1;
  while (count > 0) *to++ = digits[--count];
  std::memcpy(to, after, std::strlen(after) + 1);
}

std::uint64_t digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint64_t>(c - '0');
  return c >= 'a' && c <= 'f' ? static_cast<std::uint64_t>(c - 'a') + 10 : 16;
}

}  // namespace

// proc_pid_syscall(5): "running"; or the number, six arguments, stack pointer and pc; or -1 and the
// last two of these.
SystemCall system_call_of(std::uint32_t tid) {
  char path[kPathBytes], text[256];
  write_path(tid, "/syscall", path);
  SystemCall call{0, 0};
  if (read_small_file(path, text, sizeof text) == 0) return {kUnknownCall, 0};
  const char* at = text;
  if (digit(*at) > 9) return {*at == '-' ? kNoCall : kUnknownCall, 0};
  for (; digit(*at) <= 9; ++at) call.number = call.number * 10 + static_cast<long>(digit(*at));
  if (std::strncmp(at, " 0x", 3) != 0) return {kUnknownCall, 0};
  for (at += 3; digit(*at) < 16; ++at) call.first = call.first << 4 | digit(*at);
  return call;
}

bool ProcStatus::read(std::uint32_t tid) {
  char path[kPathBytes];
  write_path(tid, "/status", path);
  return read_small_file(path, text_, sizeof text_) != 0;
}

const char* ProcStatus::find(const char* name) const {
  const std::size_t length = std::strlen(name);
  for (const char* line = text_; line; line = std::strchr(line, '\n')) {
    if (*line == '\n') ++line;
    if (std::strncmp(line, name, length) == 0 && std::strncmp(line + length, ":\t", 2) == 0)
      return line + length + 2;
  }
  return nullptr;
}

std::uint64_t ProcStatus::mask(const char* name) const {
  std::uint64_t mask = 0;
  for (const char* at = find(name); at && digit(*at) < 16; ++at) mask = mask << 4 | digit(*at);
  return mask;
}

std::uint32_t ProcStatus::waits() const {
  std::uint32_t count = 0;
  for (const char* at = find("voluntary_ctxt_switches"); at && digit(*at) <= 9; ++at)
    count = count * 10 + static_cast<std::uint32_t>(digit(*at));
  return count;
}

}  // namespace gnomon::collector
