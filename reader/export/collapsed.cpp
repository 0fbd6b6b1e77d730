// Collapsed stacks, as stackcollapse-*.pl of FlameGraph write them: "main;work;leaf 120". Any
// thread.
#include <fmt/format.h>

#include <algorithm>

#include "reader/base/one_line.h"
#include "reader/export/formats.h"

namespace gnomon::reader {
namespace {

// A semicolon ends a frame.
std::string frame_name(const std::string& name) {
  std::string text = one_line(name);
  std::replace(text.begin(), text.end(), ';', ':');
  return text;
}

}  // namespace

Result<void> write_collapsed(const ExportSource& source, const Put& put) {
  const CallTree& tree = source.profile.tree();
  const Values& exclusive = source.profile.values(source.metric).exclusive;
  for (std::uint32_t node = 1; node < tree.size(); ++node) {
    if (source.interrupt.asked(node)) return interrupted();
    if (exclusive[node] == 0) continue;
    std::string line;
    for (const FunctionId function : path_to(source.profile, CallId{node}))
      line += (line.empty() ? "" : ";") + frame_name(source.profile.name(function));
    if (auto done = put(fmt::format("{} {}\n", line, exclusive[node])); !done) return done;
  }
  return {};
}

}  // namespace gnomon::reader
