// Metric lists: the columns of a report and its order, as users write them. Any thread.
#include "reader/metrics/metric_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace gnomon::reader {
namespace {

constexpr std::array<std::pair<std::string_view, Static>, 3> kStatics{{
    {"name", Static::name},
    {"size", Static::size},
    {"address", Static::address},
}};
constexpr std::string_view kFlavours = "eiad", kVisibilities = ".+%!";

std::optional<Static> static_named(std::string_view name) {
  for (const auto& [known, id] : kStatics)
    if (known == name) return id;
  return std::nullopt;
}

std::string_view name_of(Static id) {
  for (const auto& [name, known] : kStatics)
    if (known == id) return name;
  return "";
}

// A key of a list, taken apart.
struct Key {
  std::string_view flavours, visibilities, name;
};

Key key_of(std::string_view word) {
  const auto take = [&](std::string_view letters) {
    const std::size_t length = std::min(word.find_first_not_of(letters), word.size());
    const std::string_view taken = word.substr(0, length);
    word.remove_prefix(length);
    return taken;
  };
  Key key;
  // "address" and "any" begin with a letter of a flavour: flavours are those before a visibility.
  const std::size_t mark = word.find_first_of(kVisibilities);
  if (mark != std::string_view::npos &&
      word.substr(0, mark).find_first_not_of(kFlavours) == std::string_view::npos)
    key.flavours = take(kFlavours);
  key.visibilities = take(kVisibilities);
  key.name = word;
  return key;
}

std::string known_names() {
  std::string list;
  for (const Metric& metric : metric_table()) list += std::string(metric.key) + ", ";
  return list + "name, size and address are known";
}

tl::unexpected<Fault> no_such(std::string_view name) {
  return fault(fmt::format("there is no metric {}", name), known_names());
}

// Empty: no metric has that name.
std::vector<MetricId> metrics_named(std::string_view name) {
  std::vector<MetricId> metrics;
  for (std::uint32_t m = 0; m < metric_table().size(); ++m)
    if (name == "any" || metric_table()[m].key == name) metrics.push_back(MetricId{m});
  return metrics;
}

Result<void> check(const Key& key, std::string_view word) {
  if (key.name.empty()) return fault(fmt::format("{} names no metric", word), known_names());
  if (static_named(key.name)) {
    if (key.flavours.empty()) return {};
    return fault(fmt::format("{} has no exclusive or inclusive value", key.name),
                 fmt::format("write {}", key.name));
  }
  if (metrics_named(key.name).empty()) return no_such(key.name);
  if (key.flavours.find('d') != std::string_view::npos)
    return fault("no data about objects in memory is recorded", "e, i and a are known");
  if (key.flavours.empty())
    return fault(fmt::format("{} does not say whether exclusive or inclusive", word),
                 fmt::format("write e.{0} or i.{0}", key.name));
  if (key.visibilities.find('!') != std::string_view::npos && key.visibilities.size() > 1)
    return fault(fmt::format("{} hides and shows at once", word), "! goes with no other");
  return {};
}

void add(MetricList& list, std::variant<MetricColumn, Static> column) {
  if (std::find(list.columns.begin(), list.columns.end(), column) == list.columns.end())
    list.columns.push_back(column);
}

Result<void> add_key(MetricList& list, std::string_view word) {
  const Key key = key_of(word);
  if (auto sound = check(key, word); !sound) return sound;
  const bool is_hidden = key.visibilities.find('!') != std::string_view::npos;
  if (const auto id = static_named(key.name)) {
    if (!is_hidden) add(list, *id);
    return {};
  }
  for (const char flavour : key.flavours)
    for (const MetricId metric : metrics_named(key.name))
      for (const char visibility : key.visibilities)
        if (!is_hidden) add(list, MetricColumn{Flavour{flavour}, metric, visibility == '%'});
  return {};
}

}  // namespace

std::string_view word(Flavour flavour) {
  switch (flavour) {
    case Flavour::exclusive:
      return "Exclusive";
    case Flavour::inclusive:
      return "Inclusive";
    case Flavour::attributed:
      return "Attributed";
  }
  return "";
}

std::vector<MetricId> MetricList::metrics() const {
  std::vector<MetricId> found;
  for (const auto& column : columns)
    if (const auto* metric = std::get_if<MetricColumn>(&column))
      if (std::find(found.begin(), found.end(), metric->metric) == found.end())
        found.push_back(metric->metric);
  return found;
}

std::string MetricList::text() const {
  std::string text;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c != 0) text += ":";
    if (const auto* id = std::get_if<Static>(&columns[c])) {
      text += name_of(*id);
      continue;
    }
    auto column = std::get<MetricColumn>(columns[c]);
    text += static_cast<char>(column.flavour);
    text += column.is_percent ? "%" : ".";
    // A value and its share are one key.
    MetricColumn share = column;
    share.is_percent = true;
    const bool both = !column.is_percent && c + 1 < columns.size() &&
                      columns[c + 1] == std::variant<MetricColumn, Static>(share);
    if (both) text += "%";
    if (both) ++c;
    text += row(column.metric).key;
  }
  return text;
}

std::string Sort::text() const {
  const std::string sign = is_reversed ? "-" : "";
  if (const auto* id = std::get_if<Static>(&by)) return sign + std::string(name_of(*id));
  const auto& column = std::get<MetricColumn>(by);
  return fmt::format("{}{}.{}", sign, static_cast<char>(column.flavour), row(column.metric).key);
}

std::string Sort::title() const {
  const std::string order = is_reversed ? ", reversed" : "";
  if (const auto* id = std::get_if<Static>(&by))
    return (*id == Static::name ? "Name" : *id == Static::size ? "Size" : "PC Address") + order;
  const auto& column = std::get<MetricColumn>(by);
  const Metric& metric = row(column.metric);
  const bool says_time = metric.title.ends_with(" Time");
  return fmt::format("{} {}{}{}", word(column.flavour), metric.title,
                     metric.quantity == Quantity::time && !says_time ? " Time" : "", order);
}

MetricList default_metrics() { return *parse_metrics("e.%totalcpu:i.%totalcpu:name"); }

Sort default_sort() { return *parse_sort("e.totalcpu"); }

Result<MetricList> parse_metrics(std::string_view list) {
  if (list == "default") return default_metrics();
  MetricList parsed;
  for (std::string_view rest = list;;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (auto done = add_key(parsed, rest.substr(0, end)); !done)
      return tl::unexpected(done.error());
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (parsed.columns.empty())
    return fault(fmt::format("{} shows no column", list), "e.%totalcpu:name does");
  return parsed;
}

Result<Sort> parse_sort(std::string_view word) {
  Sort sort;
  sort.is_reversed = word.starts_with('-');
  if (sort.is_reversed) word.remove_prefix(1);
  word = word.substr(0, word.find(':'));
  const Key key = key_of(word);
  if (auto sound = check(key, word); !sound) return tl::unexpected(sound.error());
  if (const auto id = static_named(key.name)) {
    sort.by = *id;
    return sort;
  }
  sort.by = MetricColumn{Flavour{key.flavours[0]}, metrics_named(key.name).front(), false};
  return sort;
}

}  // namespace gnomon::reader
