// `collector attach`: which process is meant. A debugger's command thread.
#include "commands/collect/attach_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands/host/words.h"
#include "reader/base/one_line.h"

namespace gnomon::commands {
namespace {

// Returns the first process of that name that is not among `before`.
Result<std::int32_t> await_process(Host& host, const std::string& name,
                                   const std::vector<std::int32_t>& before) {
  constexpr auto kBetween = std::chrono::milliseconds(5);
  for (;; std::this_thread::sleep_for(kBetween)) {
    if (host.interrupt().asked()) return interrupted();
    const auto found = host.processes_named(name);
    if (!found) return tl::unexpected(found.error());
    for (const std::int32_t pid : *found)
      if (!std::binary_search(before.begin(), before.end(), pid)) return pid;
  }
}

Result<std::int32_t> process_of(Host& host, const Invocation& call, const std::string& word) {
  if (const auto number = whole_number(word).value_or(0);
      number > 0 && number <= std::numeric_limits<std::int32_t>::max() && !call.waits)
    return static_cast<std::int32_t>(number);
  const auto found = host.processes_named(word);
  if (!found) return tl::unexpected(found.error());
  if (call.waits) return await_process(host, word, *found);
  if (found->empty())
    return fault(fmt::format("no process is called {}", one_line(word)),
                 "`ps` lists them; --waitfor waits for one");
  if (found->size() > 1)
    return fault(fmt::format("{} processes are called {}: {}", found->size(), one_line(word),
                             fmt::join(*found, ", ")),
                 "give the number of one");
  return found->front();
}

}  // namespace

Result<Answer> run_attach(Host& host, const Invocation& call) {
  const std::string word = call.arguments.empty() ? "" : call.arguments.front();
  if (word.empty())
    return fault("no process is named", "give its number or its name; `ps` lists them");
  const auto pid = process_of(host, call, word);
  if (!pid) return tl::unexpected(pid.error());
  auto said = host.attach(*pid);
  if (!said) return tl::unexpected(said.error());
  return Answer{std::move(*said), {}};
}

}  // namespace gnomon::commands
