// Names of the kernel's functions as the recording has noted them: kernel.jsonl. Any thread, one at
// a time.
#include "reader/symbols/kernel_names.h"

#include <iterator>
#include <utility>

#include "libcollector/format/names.h"
#include "libcollector/format/stacks.h"
#include "reader/experiment/json_lines.h"
#include "reader/experiment/json_members.h"

namespace gnomon::reader {

// A damaged line is left out: its function has no name.
void KernelNames::read_new(const Experiment& experiment) {
  if (experiment.directory != directory_) *this = {};
  directory_ = experiment.directory;
  const auto take = [this](const nlohmann::json& line) {
    const auto begin = field<std::uint64_t>(line, "begin"), end = field<std::uint64_t>(line, "end");
    auto name = field<std::string>(line, "name");
    if (!format::is_kernel(begin) || end <= begin || name.empty()) return false;
    functions_[begin] = {begin, end, std::move(name), field<std::string>(line, "module")};
    return true;
  };
  static_cast<void>(each_new_line(directory_ + "/" + format::kKernelFile, experiment.header.session,
                                  read_, take));
}

const KernelNames::Named* KernelNames::find(std::uint64_t pc) const {
  const auto behind = functions_.upper_bound(pc);
  if (behind == functions_.begin()) return nullptr;
  const Named& function = std::prev(behind)->second;
  return pc < function.end ? &function : nullptr;
}

}  // namespace gnomon::reader
