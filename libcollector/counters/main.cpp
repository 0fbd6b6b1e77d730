// The program gnomon-counters: which events processors and the kernel count here, under which
// names, and how they are opened. `list` prints them; `resolve WORD...` prints the text of
// format/counters.h, or two lines: `!` and what is wrong, and what to do instead.
#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "libcollector/counters/definition.h"
#include "libcollector/counters/known.h"
#include "libcollector/counters/trial.h"

namespace {

using namespace gnomon::counters;
using gnomon::format::Counter;

constexpr const char* kNoUnit =
    "the processors of this machine count no events for programs (a virtual machine, or the "
    "kernel, "
    "may hide their performance counters)";

bool sees_kernel() {
  Counter clock;
  clock.type = PERF_TYPE_SOFTWARE;
  clock.config = PERF_COUNT_SW_TASK_CLOCK;
  return try_event(clock) == 0 && clock.is_of_system;
}

bool has_unit() {
  Counter cycles;
  cycles.type = PERF_TYPE_HARDWARE;
  cycles.config = PERF_COUNT_HW_CPU_CYCLES;
  return try_event(cycles) == 0;
}

bool is_of_kernel(const Counter& counter) { return counter.type == PERF_TYPE_SOFTWARE; }

// As in the original: name,interval ('Title', alias for NAME; load-store events).
void print(const Known& known) {
  const Counter& counter = known.counter;
  const std::string type = known.is_memory() ? known.type + " " : "";
  const char* const unit = counter.is_cycles ? "CPU-cycles" : "events";
  if (known.alias_of.empty())
    std::printf("  %s,%llu (%s%s)\n", counter.name.c_str(),
                static_cast<unsigned long long>(counter.interval), type.c_str(), unit);
  else
    std::printf("  %s,%llu ('%s', alias for %s; %s%s)\n", counter.name.c_str(),
                static_cast<unsigned long long>(counter.interval), counter.title.c_str(),
                known.alias_of.c_str(), type.c_str(), unit);
}

int list() {
  const bool has_counters = has_unit();
  if (!has_counters)
    std::printf("Hardware events: none; %s. What the kernel itself counts:\n\n", kNoUnit);
  std::printf("Aliased counters:\n");
  const bool visible = sees_kernel();
  for (Known& each : aliased())
    if ((visible || !each.needs_kernel) && try_event(each.counter) == 0) print(each);
  for (Known& each : has_counters ? presets() : std::vector<Known>())
    if (try_event(each.counter) == 0) print(each);
  std::printf("\nRaw counters:\n");
  std::size_t raw = 0;
  each_raw([&](Known each) {
    if (!has_counters || try_event(each.counter) != 0) return;
    print(each);
    ++raw;
  });
  if (raw == 0) std::printf("  none\n");
  std::printf(
      "\nNAME,INTERVAL: a sample each so many events, with its call stack; the interval may be "
      "left "
      "out, or be hi, lo or a number.\n");
  if (!visible)
    std::printf(
        "Events in the kernel are not counted for this user: kernel.perf_event_paranoid is 2 or "
        "more, and this program has no CAP_PERFMON.\n");
  return 0;
}

Refusal refuse(const std::string& name, int error) {
  if (error == EACCES || error == EPERM)
    return {std::string("the kernel does not let this user count ").append(name),
            "set kernel.perf_event_paranoid to 2 or lower, or use CAP_PERFMON"};
  if (!has_unit())
    return {std::string(name).append(" cannot be counted: ").append(kNoUnit),
            "page-faults, minor-faults and what else `list` shows can be"};
  return {std::string("no processor here counts ").append(name), "`list` shows those that count"};
}

// By its short name, or PAPI's. A counter without a name: it has neither.
Known known_by(const std::string& name) {
  for (Known& each : aliased())
    if (each.counter.name == name) return each;
  for (Known& each : name.starts_with("PAPI_") ? presets() : std::vector<Known>())
    if (each.counter.name == name) return each;
  return {};
}

Refusal resolve_one(const Definition& definition, Counter& counter) {
  const Known known = known_by(definition.name);
  if (known.needs_kernel && !sees_kernel())
    return {definition.name + " counts nothing for a user who may not see the kernel",
            "set kernel.perf_event_paranoid to 1 or lower, or use CAP_PERFMON"};
  counter = known.counter;
  if (Refusal wrong = encode(definition, counter); !wrong.what.empty()) return wrong;
  counter.name = definition.name;
  counter.interval = interval_of(definition.interval, counter.interval);
  if (definition.wants_address && !known.is_memory()) counter.precise = 2;
  const bool wants_system = counter.is_of_system;
  const int error = try_event(counter);
  counter.is_of_system = wants_system;  // whether the kernel allows it is seen there
  if (error != 0 && definition.wants_address)
    return {std::string("the address of the data is not told for ").append(definition.name),
            std::string("write ").append(definition.name)};
  return error == 0 ? Refusal{} : refuse(definition.name, error);
}

int say(const Refusal& refusal) {
  std::printf("!%s\n%s\n", refusal.what.c_str(), refusal.next.c_str());
  return 0;
}

// The kernel's own counters never lack room.
Refusal check_room(const std::vector<Counter>& counters) {
  std::vector<Counter> of_processor;
  std::copy_if(counters.begin(), counters.end(), std::back_inserter(of_processor),
               [](const Counter& each) { return !is_of_kernel(each); });
  const std::size_t first = first_without_room(of_processor);
  if (first == of_processor.size()) return {};
  if (first == 0)
    return {of_processor[0].name + " has no counter of the processor at the moment",
            "end what else counts, such as perf or the kernel's NMI watchdog"};
  std::string others;
  for (std::size_t i = 0; i < first; ++i)
    others.append(i == 0 ? "" : i + 1 == first ? " and " : ", ").append(of_processor[i].name);
  return {of_processor[first].name + " cannot be counted at the same time as " + others,
          "record twice"};
}

int resolve(const std::vector<std::string>& words) {
  std::vector<Definition> definitions;
  if (const Refusal refusal = parse(words, definitions); !refusal.what.empty()) return say(refusal);
  if (definitions.size() > gnomon::format::kMostCounters)
    return say({"these are too many counters", "32 are possible"});
  std::vector<Counter> counters;
  for (const Definition& definition : definitions) {
    Counter& counter = counters.emplace_back();
    if (const Refusal refusal = resolve_one(definition, counter); !refusal.what.empty())
      return say(refusal);
  }
  if (const Refusal refusal = check_room(counters); !refusal.what.empty()) return say(refusal);
  std::printf("%s", gnomon::format::counters_text(counters).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "list") return list();
  if (verb == "resolve") return resolve({argv + 2, argv + argc});
  std::fprintf(stderr, "gnomon-counters is started by Gnomon: see `gnomon collect -h`.\n");
  return 2;
}
