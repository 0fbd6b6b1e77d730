// Names of the threads that held what others waited for. Any thread.
#include "reader/report/traced/holders.h"

#include <fmt/format.h>

#include "reader/base/one_line.h"

namespace gnomon::reader {

std::string HolderNames::name_of(std::size_t part, std::uint32_t thread) const {
  const Part& known = *analysis_.parts()[part];
  const auto own = names_.find({known.number(), thread});
  if (own == names_.end()) return "";
  const auto main = names_.find({known.number(), known.experiment().header.pid});
  return main != names_.end() && main->second == own->second ? "" : one_line(own->second);
}

std::string holder_text(const std::string& name, const Holders& holders) {
  const std::string behind = name.empty() ? "" : " " + name;
  if (holders.size() > 1) return fmt::format("{} threads{}", holders.size(), behind);
  const std::uint32_t thread = holders.begin()->second;
  return name.empty() ? fmt::format("thread {}", thread) : fmt::format("{} ({})", name, thread);
}

}  // namespace gnomon::reader
