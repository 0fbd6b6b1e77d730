// Finds the function that a call instruction has called. Any thread; stops nothing.
#include "injector/attach/remote/call_target.h"

#include <array>
#include <cstring>

#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

using Bytes = std::array<unsigned char, 16>;

std::uint64_t relative(const unsigned char* displacement, std::uint64_t next) {
  std::int32_t offset = 0;
  std::memcpy(&offset, displacement, sizeof offset);
  return next + static_cast<std::uint64_t>(std::int64_t{offset});
}

// Returns the function to which a PLT entry ([endbr64] [bnd] jmp *offset(%rip)) leads, or `code`
// itself if it is no PLT entry.
std::uint64_t behind_stub(pid_t pid, std::uint64_t code) {
  constexpr std::array<unsigned char, 4> kEndbr = {0xf3, 0x0f, 0x1e, 0xfa};
  const auto bytes = read_value<Bytes>(pid, code);
  if (!bytes) return 0;
  std::size_t at =
      std::memcmp(bytes->data(), kEndbr.data(), kEndbr.size()) == 0 ? kEndbr.size() : 0;
  if ((*bytes)[at] == 0xf2) ++at;
  if ((*bytes)[at] != 0xff || (*bytes)[at + 1] != 0x25) return code;
  return read_value<std::uint64_t>(pid, relative(&(*bytes)[at + 2], code + at + 6)).value_or(0);
}

}  // namespace

// Intel SDM 2, CALL: e8 rel32, or ff /2 with a RIP-relative operand, disp32.
std::uint64_t called_function(pid_t pid, std::uint64_t returns_to) {
  constexpr std::size_t kLongest = 6;
  const auto before = read_value<std::array<unsigned char, kLongest>>(pid, returns_to - kLongest);
  if (!before) return 0;
  const std::uint64_t there = relative(&(*before)[2], returns_to);
  if ((*before)[0] == 0xff && (*before)[1] == 0x15)
    return read_value<std::uint64_t>(pid, there).value_or(0);
  return (*before)[1] == 0xe8 ? behind_stub(pid, there) : 0;
}

}  // namespace gnomon::injector
