// The metrics of counters, which experiments name. LLDB's command thread, or the shell's.
#include "commands/base/known_counters.h"

#include <algorithm>
#include <vector>

#include "commands/base/command.h"
#include "reader/experiment/experiment.h"
#include "reader/experiment/group.h"
#include "reader/metrics/metric.h"

namespace gnomon::commands {
namespace {

// Of a group the first ones: its experiments are recorded alike.
void know_counters_of(const std::string& name) {
  constexpr std::size_t kMostRead = 8;
  const auto directories = reader::experiments_of(name);
  if (!directories) return;
  for (std::size_t i = 0; i < std::min(kMostRead, directories->size()); ++i) {
    const auto header = reader::read_header((*directories)[i]);
    if (!header) continue;
    for (const reader::CounterLine& each : reader::counters_of((*directories)[i], header->session))
      reader::know_counter(each.name, each.title, each.megahertz != 0);
  }
}

}  // namespace

void know_counters(Host& host, std::span<const std::string> words) {
  std::vector<std::string> names;
  for (const std::string& word : words)
    if (is_experiment_name(word)) names.push_back(word);
  if (names.empty())
    if (const auto usual = host.experiments()) names = *usual;
  for (const std::string& name : names) know_counters_of(name);
}

}  // namespace gnomon::commands
