// Counters of events that a processor or the kernel counts: which, and how they are opened. The
// text in which they travel from gnomon-counters, which knows their names, to gnomon-sampler. Any
// process but a recorded one.
#pragma once
#include <linux/perf_event.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnomon::format {

// type, config, config1, config2, precise: as in perf_event_attr (perf_event_open(2)).
struct Counter {
  std::string name;   // the metric's key, as the user has named it
  std::string title;  // "Page Faults"
  std::uint64_t type = 0, config = 0, config1 = 0, config2 = 0;
  std::uint64_t interval = 0;  // counts between two samples
  std::uint64_t precise = 0;
  bool is_of_user = true, is_of_system = true;  // counts there, as far as the kernel allows
  bool is_cycles = false;                       // of a CPU, so that they are time
};

inline constexpr std::size_t kMostCounters = 32;

// Has an event count that. Other attributes are left as they are.
inline void count(const Counter& counter, perf_event_attr& attributes) {
  attributes.type = static_cast<std::uint32_t>(counter.type);
  attributes.config = counter.config;
  attributes.config1 = counter.config1;
  attributes.config2 = counter.config2;
  attributes.sample_period = counter.interval;
  attributes.precise_ip = counter.precise & 3;
  attributes.exclude_user = counter.is_of_user ? 0 : 1;
  attributes.exclude_kernel = counter.is_of_system ? 0 : 1;
  attributes.exclude_hv = 1;
}

// NAME|TITLE|TYPE|...; for each. Names and titles have neither of these characters.
inline std::string counters_text(const std::vector<Counter>& counters) {
  std::string text;
  for (const Counter& each : counters) {
    text.append(each.name).append("|").append(each.title);
    const bool flags[] = {each.is_of_user, each.is_of_system, each.is_cycles};
    for (const std::uint64_t number :
         {each.type, each.config, each.config1, each.config2, each.interval, each.precise})
      text.append("|").append(std::to_string(number));
    for (const bool flag : flags) text.append(flag ? "|1" : "|0");
    text.append(";");
  }
  return text;
}

// Of such a text; a counter that is not whole is left out.
inline std::vector<Counter> counters_in(std::string_view text) {
  constexpr std::size_t kFields = 11;
  std::vector<Counter> counters;
  while (!text.empty() && counters.size() < kMostCounters) {
    std::string_view one = text.substr(0, text.find(';'));
    text.remove_prefix(one.size() < text.size() ? one.size() + 1 : one.size());
    std::vector<std::string_view> fields;
    for (;;) {
      const std::size_t end = one.find('|');
      fields.push_back(one.substr(0, end));
      if (end == std::string_view::npos) break;
      one.remove_prefix(end + 1);
    }
    if (fields.size() != kFields) continue;
    const auto number = [&](std::size_t field) {
      std::uint64_t value = 0;
      std::from_chars(fields[field].data(), fields[field].data() + fields[field].size(), value);
      return value;
    };
    Counter counter;
    counter.name = fields[0];
    counter.title = fields[1];
    counter.type = number(2);
    counter.config = number(3);
    counter.config1 = number(4);
    counter.config2 = number(5);
    counter.interval = number(6);
    counter.precise = number(7);
    counter.is_of_user = number(8) != 0;
    counter.is_of_system = number(9) != 0;
    counter.is_cycles = number(10) != 0;
    counters.push_back(std::move(counter));
  }
  return counters;
}

}  // namespace gnomon::format
