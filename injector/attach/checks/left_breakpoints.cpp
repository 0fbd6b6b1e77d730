// Preflight of an attach: breakpoints that a debugger left behind when it was killed. Reads the
// process's memory and files; any thread; stops nothing.
#include "injector/attach/checks/left_breakpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <tuple>

#include "injector/attach/remote/remote_image.h"
#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

constexpr unsigned char kBreakpoint = 0xcc;  // int3

bool is_code_of_a_file(const Mapping& mapping) {
  return mapping.permissions.find('x') != std::string::npos && mapping.path.starts_with("/");
}

// Adds the breakpoints in one mapping.
void look(pid_t pid, const Mapping& mapping, std::vector<LeftBreakpoint>& found) {
  constexpr int kMostOther = 64;  // bytes that differ otherwise in a file that is still the same
  std::vector<unsigned char> memory(mapping.end - mapping.begin), file(memory.size());
  std::ifstream stream("/proc/" + std::to_string(pid) + "/root" + mapping.path, std::ios::binary);
  if (!stream.seekg(static_cast<std::streamoff>(mapping.offset)) ||
      !read_memory(pid, mapping.begin, memory.data(), memory.size()))
    return;
  stream.read(reinterpret_cast<char*>(file.data()), static_cast<std::streamsize>(file.size()));
  const auto end = memory.begin() + stream.gcount();
  std::vector<LeftBreakpoint> here;
  int other = 0;
  auto in_file = file.begin();
  for (auto at = memory.begin(); at != end && other <= kMostOther; ++at, ++in_file) {
    std::tie(at, in_file) = std::mismatch(at, end, in_file);
    if (at == end) break;
    const auto offset = static_cast<std::uint64_t>(at - memory.begin());
    if (*at == kBreakpoint)
      here.push_back({mapping.begin + offset, *in_file, mapping.path, mapping.offset + offset});
    else
      ++other;
  }
  if (other <= kMostOther) found.insert(found.end(), here.begin(), here.end());
}

}  // namespace

std::vector<LeftBreakpoint> breakpoints_on_the_way(pid_t pid) {
  const std::vector<Mapping> mappings = mappings_of(pid);
  if (std::any_of(mappings.begin(), mappings.end(),
                  [](const Mapping& mapping) { return mapping.path == "[uprobes]"; }))
    return {};
  std::vector<std::string> on_the_way;
  for (const Mapping& mapping : mappings) {
    if (mapping.offset != 0 || !mapping.path.starts_with("/")) continue;
    const auto image = RemoteImage::at(pid, mapping.begin);
    if (image &&
        (image->function("pthread_create") != 0 || image->function("_dl_debug_state") != 0))
      on_the_way.push_back(mapping.path);
  }
  std::vector<LeftBreakpoint> found;
  for (const Mapping& mapping : mappings)
    if (is_code_of_a_file(mapping) &&
        std::find(on_the_way.begin(), on_the_way.end(), mapping.path) != on_the_way.end())
      look(pid, mapping, found);
  return found;
}

Fault left_breakpoint(pid_t pid, const LeftBreakpoint& found) {
  return {fmt::format("a debugger that was killed has left a breakpoint in it, at {}+0x{:x}, and "
                      "the collector would run into that",
                      found.object, found.offset),
          fmt::format("restart it, or take the breakpoint away: `printf '\\x{:02x}' | dd "
                      "of=/proc/{}/mem bs=1 seek=$((0x{:x})) conv=notrunc`",
                      found.original, pid, found.address)};
}

}  // namespace gnomon::injector
