// The readable mappings of this process at one moment. read() and clear(): normal context. find():
// any context, takes no lock.
#include "libcollector/core/mappings.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

constexpr std::uint64_t kFirstRoom = 4096;

std::uint64_t hexadecimal(const char*& at) {
  std::uint64_t value = 0;
  for (;; ++at) {
    if (*at >= '0' && *at <= '9')
      value = value << 4 | static_cast<std::uint64_t>(*at - '0');
    else if (*at >= 'a' && *at <= 'f')
      value = value << 4 | static_cast<std::uint64_t>(*at - 'a' + 10);
    else
      return value;
  }
}

// Parses "begin-end rwxp ..." (proc_pid_maps(5)). Returns an empty mapping if the line's is not
// readable.
Mapping readable_mapping(const char* line) {
  const std::uint64_t begin = hexadecimal(line);
  if (*line++ != '-') return {};
  const std::uint64_t end = hexadecimal(line);
  return line[0] == ' ' && line[1] == 'r' ? Mapping{{begin, end}, line[2] == 'w'} : Mapping{};
}

}  // namespace

bool Mappings::add(const Mapping& mapping) {
  if (count_ == room_) {
    const std::uint64_t room = room_ == 0 ? kFirstRoom : 2 * room_;
    void* memory =
        ranges_ ? mremap(ranges_, room_ * sizeof *ranges_, room * sizeof *ranges_, MREMAP_MAYMOVE)
                : mmap(nullptr, room * sizeof *ranges_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    ranges_ = static_cast<Mapping*>(memory);
    room_ = room;
  }
  ranges_[count_++] = mapping;
  return true;
}

bool Mappings::read() {
  bool is_read = false;
  with_own_descriptors([&] { is_read = read_here(); });
  return is_read;
}

bool Mappings::read_here() {
  static char text[64 * 1024];
  count_ = 0;
  const long file = raw_syscall(SYS_openat, AT_FDCWD, arg("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool fits = true;
  std::size_t kept = 0;  // of a line whose end is still to come
  for (long n; fits && (n = raw_syscall(SYS_read, file, arg(text + kept),
                                        static_cast<long>(sizeof text - 1 - kept))) > 0;) {
    char* const end = text + kept + n;
    *end = 0;
    char* line = text;
    for (char* stop; fits && (stop = std::strchr(line, '\n')); line = stop + 1)
      if (const Mapping found = readable_mapping(line); found.range.end != 0) fits = add(found);
    kept = static_cast<std::size_t>(end - line);
    std::memmove(text, line, kept);
  }
  raw_syscall(SYS_close, file);
  return fits && count_ != 0;
}

Mapping Mappings::find(std::uint64_t address) const {
  const Mapping* after = std::upper_bound(
      ranges_, ranges_ + count_, address,
      [](std::uint64_t at, const Mapping& mapping) { return at < mapping.range.begin; });
  if (after == ranges_ || !after[-1].range.contains(address)) return {};
  return after[-1];
}

void Mappings::clear() {
  if (ranges_) munmap(ranges_, room_ * sizeof *ranges_);
  ranges_ = nullptr;
  count_ = room_ = 0;
}

}  // namespace gnomon::collector
