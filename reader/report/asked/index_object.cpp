// Kinds of objects that events are summed up by. Any thread.
#include "reader/report/asked/index_object.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "reader/analysis/index_values.h"
#include "reader/base/one_line.h"
#include "reader/filter/expression.h"

namespace gnomon::reader {
namespace {

// Studio's names. What is numbered in each process carries the experiment's number above.
const std::array<IndexObject, 6> kPredefined{{{"Threads", "EXPID << 32 | THRID"},
                                              {"CPUs", "CPUID"},
                                              {"Samples", "EXPID << 32 | SAMPLE"},
                                              {"Seconds", "TSTAMP / 1000000000"},
                                              {"Processes", "EXPID"},
                                              {"Experiment_IDs", "EXPID"}}};

std::int64_t process_of(std::int64_t key) { return key >> 32; }
std::int64_t number_of(std::int64_t key) { return key & 0xffffffff; }

bool is_named(const IndexObject& object, const std::string& name) {
  return strcasecmp(object.name.c_str(), name.c_str()) == 0;
}

}  // namespace

std::span<const IndexObject> predefined_index_objects() { return kPredefined; }

Result<IndexObject> index_object_named(const std::string& name,
                                       const std::vector<IndexObject>& defined) {
  std::string known;
  for (const auto& all : {std::span<const IndexObject>(kPredefined), std::span(defined)})
    for (const IndexObject& each : all) {
      if (is_named(each, name)) return each;
      known += (known.empty() ? "" : ", ") + each.name;
    }
  return fault("there are no index objects " + name,
               "known are " + known + "; `indxobj_define` defines others");
}

Result<void> check_index_object(const IndexObject& object) {
  const bool is_word =
      !object.name.empty() && !std::isdigit(static_cast<unsigned char>(object.name[0])) &&
      std::all_of(object.name.begin(), object.name.end(),
                  [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
  if (!is_word)
    return fault(object.name + " is no name for index objects",
                 "letters, digits and _ make a name");
  if (std::any_of(kPredefined.begin(), kPredefined.end(),
                  [&](const IndexObject& each) { return is_named(each, object.name); }))
    return fault(object.name + " is defined already", "choose another name");
  const auto parsed = parse_expression(object.expression);
  if (!parsed) return tl::unexpected(parsed.error());
  return {};
}

IndexNames::IndexNames(const IndexObject& object, const Analysis& analysis)
    : name_(object.name), analysis_(analysis) {
  if (name_ == "Threads") threads_ = thread_names(analysis);
}

std::string IndexNames::of_thread(std::int64_t key) const {
  const auto known = threads_.find({process_of(key), number_of(key)});
  return fmt::format("Process {}, Thread {}{}", process_of(key), number_of(key),
                     known == threads_.end() ? "" : fmt::format(" ({})", one_line(known->second)));
}

const Part* IndexNames::part(std::int64_t number) const {
  const auto count = static_cast<std::int64_t>(analysis_.parts().size());
  return number >= 1 && number <= count
             ? analysis_.parts()[static_cast<std::size_t>(number - 1)].get()
             : nullptr;
}

// Events are numbered by the first sample after them; the newest ones have none yet.
std::string IndexNames::of_sample(std::int64_t key) const {
  const Part* const of = part(process_of(key));
  const auto number = static_cast<std::size_t>(number_of(key));
  const std::string process =
      analysis_.parts().size() == 1 ? "" : fmt::format("Process {}, ", process_of(key));
  if (!of || number == 0 || number > of->samples().all().size())
    return process.empty() ? "After the last sample" : process + "after the last sample";
  return fmt::format("{}Sample {} ({})", process, number,
                     one_line(of->samples().all()[number - 1].name()));
}

std::string IndexNames::of(std::int64_t key) const {
  if (key == IndexValues::kUnknown) return "<Unknown>";
  if (name_ == "Threads") return of_thread(key);
  if (name_ == "Samples") return of_sample(key);
  if (name_ == "CPUs") return fmt::format("CPU {}", key);
  if (name_ == "Seconds") return fmt::format("Second of execution {}", key);
  const Part* const of = part(key);
  if (name_ == "Processes" && of)
    return fmt::format("Process {}, PID {}", key, of->experiment().header.pid);
  if (name_ == "Experiment_IDs" && of)
    return fmt::format("Experiment {}, {}", key, one_line(of->experiment().directory));
  return fmt::format("{} {}", name_, key);
}

}  // namespace gnomon::reader
