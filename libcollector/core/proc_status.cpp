// Lines of /proc/self/task/TID/status. Any context: raw system calls, 4 KiB of stack.
#include "libcollector/core/proc_status.h"

#include <cstring>

#include "libcollector/core/small_file.h"

namespace gnomon::collector {
namespace {

constexpr char kBefore[] = "/proc/self/task/", kAfter[] = "/status";

void write_path(std::uint32_t tid, char* to) {
  char digits[10];
  std::size_t count = 0;
  do digits[count++] = static_cast<char>('0' + tid % 10);
  while ((tid /= 10) != 0);
  std::memcpy(to, kBefore, sizeof kBefore - 1);
  to += sizeof kBefore - 1;
  while (count > 0) *to++ = digits[--count];
  std::memcpy(to, kAfter, sizeof kAfter);
}

std::uint64_t digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint64_t>(c - '0');
  return c >= 'a' && c <= 'f' ? static_cast<std::uint64_t>(c - 'a') + 10 : 16;
}

}  // namespace

bool ProcStatus::read(std::uint32_t tid) {
  char path[sizeof kBefore + 10 + sizeof kAfter];
  write_path(tid, path);
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

std::uint64_t ProcStatus::blocked() const {
  std::uint64_t mask = 0;
  for (const char* at = find("SigBlk"); at && digit(*at) < 16; ++at) mask = mask << 4 | digit(*at);
  return mask;
}

}  // namespace gnomon::collector
