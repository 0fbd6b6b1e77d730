// The arguments of this process, as the kernel has them. Normal context.
#include "libcollector/session/command_line.h"

#include <cstring>

#include "libcollector/core/small_file.h"

namespace gnomon::collector {
namespace {

constexpr int kMaxWords = 1024;
constinit char text[32 * 1024] = {};
constinit char* words[kMaxWords + 1] = {};

}  // namespace

// proc_pid_cmdline(5): words, each ended by a 0.
CommandLine command_line() {
  const std::size_t length = read_small_file("/proc/self/cmdline", text, sizeof text);
  int count = 0;
  for (char* at = text; at < text + length && count < kMaxWords; at += std::strlen(at) + 1)
    words[count++] = at;
  words[count] = nullptr;
  return {count, words};
}

}  // namespace gnomon::collector
