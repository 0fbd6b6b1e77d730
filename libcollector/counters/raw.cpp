// Names of events that libpfm4 knows. In gnomon-counters.
#include <linux/perf_event.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#include <array>
#include <utility>

#include "libcollector/counters/known.h"

namespace gnomon::counters {
namespace {

bool is_ready() {
  static const bool ready = pfm_initialize() == PFM_SUCCESS;
  return ready;
}

pfm_event_info_t info_of(int index) {
  pfm_event_info_t info{};
  info.size = sizeof info;
  pfm_get_event_info(index, PFM_OS_PERF_EVENT, &info);
  return info;
}

// user and system are Gnomon's, as in Sun Studio; others are libpfm4's.
Refusal add_attributes(const Definition& definition, std::string& text, format::Counter& counter) {
  for (const auto& [name, value] : definition.attributes) {
    bool* const part = name == "user"     ? &counter.is_of_user
                       : name == "system" ? &counter.is_of_system
                                          : nullptr;
    if (part != nullptr && value != "0" && value != "1")
      return {std::string("~").append(name).append("=").append(value).append(" is neither 0 nor 1"),
              "write one of them"};
    if (part != nullptr)
      *part = value == "1";
    else
      text.append(":").append(name).append("=").append(value);
  }
  if (counter.is_of_user || counter.is_of_system) return {};
  return {definition.name + " is to be counted nowhere", "omit ~user=0 or ~system=0"};
}

}  // namespace

// libpfm4 fills in nothing if `size` is less than it knows, and says success all the same.
Refusal encode(const Definition& definition, format::Counter& counter) {
  Refusal unknown{std::string("there is no counter ").append(definition.name),
                  "`list` shows those that count"};
  std::string text = definition.name;
  if (Refusal wrong = add_attributes(definition, text, counter); !wrong.what.empty()) return wrong;
  if (counter.interval != 0 && text == definition.name) return {};  // it has a short name
  if (!is_ready()) return unknown;
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  pfm_perf_encode_arg_t encoding{};
  encoding.attr = &attributes;
  encoding.size = sizeof encoding;
  if (pfm_get_os_event_encoding(text.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT,
                                &encoding) != PFM_SUCCESS)
    return unknown;
  counter.type = attributes.type;
  counter.config = attributes.config;
  counter.config1 = attributes.config1;
  counter.config2 = attributes.config2;
  counter.precise = attributes.precise_ip;
  counter.is_of_user = counter.is_of_user && attributes.exclude_user == 0;
  counter.is_of_system = counter.is_of_system && attributes.exclude_kernel == 0;
  counter.interval = attributes.sample_period != 0 ? attributes.sample_period : kRawInterval;
  counter.title = definition.name;
  return {};
}

void each_raw(const std::function<void(const Known&)>& visit) {
  if (!is_ready()) return;
  for (int pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; ++pmu) {
    pfm_pmu_info_t unit{};
    unit.size = sizeof unit;
    const bool is_here = pfm_get_pmu_info(static_cast<pfm_pmu_t>(pmu), &unit) == PFM_SUCCESS &&
                         unit.is_present && unit.type == PFM_PMU_TYPE_CORE;
    for (int event = is_here ? unit.first_event : -1; event >= 0;
         event = pfm_get_event_next(event)) {
      const pfm_event_info_t info = info_of(event);
      if (!info.name) continue;
      Definition definition;
      definition.name = std::string(unit.name).append("::").append(info.name);
      Known known;
      known.counter.name = definition.name;
      if (encode(definition, known.counter).what.empty()) visit(known);
    }
  }
}

}  // namespace gnomon::counters
