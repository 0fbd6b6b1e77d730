// The events of a kind, one a row. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "reader/report/asked/report.h"
#include "reader/report/notes/losses.h"

namespace gnomon::reader {
namespace {

Type type_of(format::Unit unit) {
  switch (unit) {
    case format::Unit::nanoseconds:
    case format::Unit::time:
      return Type::time;
    case format::Unit::bytes:
      return Type::bytes;
    case format::Unit::address:
      return Type::address;
    case format::Unit::text:
      return Type::text;
    default:
      return Type::count;
  }
}

Cell cpu_cell(std::uint64_t cpu) {
  Cell cell = Empty{};
  if (cpu != format::kNoCpu) cell = cpu;
  return cell;
}

// The functions of a call stack as text: "main;work;leaf".
class StackTexts {
 public:
  explicit StackTexts(const Profile& profile) : profile_(profile) {}
  const std::string& of(StackId stack) {
    auto [at, is_new] = known_.try_emplace(index(stack));
    if (!is_new) return at->second;
    at->second = text(profile_.place(0, stack));
    kept_ += at->second.size();
    if (kept_ <= kMostKept) return at->second;
    // Deep stacks in great number.
    auto latest = known_.extract(at);
    known_.clear();
    kept_ = latest.mapped().size();
    return known_.insert(std::move(latest)).position->second;
  }

 private:
  std::string text(CallId place) const {
    std::vector<FunctionId> functions;
    for (; place != CallId::total; place = profile_.tree().node(place).parent)
      functions.push_back(profile_.tree().node(place).function);
    std::string text;
    for (auto each = functions.rbegin(); each != functions.rend(); ++each)
      text += (text.empty() ? "" : ";") + profile_.name(*each);
    return text;
  }

  static constexpr std::size_t kMostKept = 64 << 20;  // bytes

  const Profile& profile_;
  std::unordered_map<std::uint32_t, std::string> known_;
  std::size_t kept_ = 0;  // bytes
};

class EventListing {
 public:
  EventListing(Analysis& analysis, const Profile& profile, std::uint8_t kind, std::size_t limit)
      : analysis_(analysis), stacks_(profile), kind_(kind), limit_(limit) {}

  Result<void> list(const Table::Take& take, const Interrupt& interrupt) {
    std::size_t listed = 0;
    bool is_enough = false;
    const auto visit = [&](const Event& event) -> Result<void> {
      if (event.layout.id != kind_) return {};
      is_enough = limit_ != 0 && listed == limit_;
      if (is_enough) return fault("enough");  // ends the reading
      ++listed;
      return take(row_of(event));
    };
    auto read = analysis_.first().each_event(interrupt, visit);
    return is_enough ? Result<void>() : read;
  }

 private:
  // Instants count from the beginning of the recording.
  Cell cell_of(const Event& event, const EventLayout::Field& field) const {
    const std::uint64_t value = event.value(field),
                        start = analysis_.experiment().control.start_time;
    switch (field.unit) {
      case format::Unit::time:
        return Nanoseconds{value - std::min(value, start)};
      case format::Unit::nanoseconds:
        return Nanoseconds{value};
      case format::Unit::address:
        return Address{value};
      case format::Unit::cpu:
        return cpu_cell(value);
      case format::Unit::text:
        return std::string(event.text(field));
      default:
        return value;
    }
  }

  Row row_of(const Event& event) {
    Row row;
    if (event.layout.is_compact) {
      row.emplace_back(std::uint64_t{event.block.thread});
      row.push_back(cpu_cell(event.block.cpu));
    }
    std::uint64_t stack = 0;
    for (const auto& field : event.layout.fields) {
      row.push_back(cell_of(event, field));
      if (field.unit == format::Unit::stack) stack = event.value(field);
    }
    row.push_back(stacks_.of(StackId{static_cast<std::uint32_t>(stack)}));
    return row;
  }

  Analysis& analysis_;
  StackTexts stacks_;
  std::uint8_t kind_;
  std::size_t limit_;  // events; 0: none
};

const EventLayout* kind_named(const std::vector<EventLayout>& kinds, const std::string& name) {
  const auto at = std::find_if(kinds.begin(), kinds.end(),
                               [&](const EventLayout& kind) { return kind.name == name; });
  return at == kinds.end() ? nullptr : &*at;
}

Table kinds_table(const Analysis& analysis) {
  Table table;
  table.title = "Kinds of events";
  table.notes = loss_notes(analysis, nullptr);
  table.columns = {{"kind", {"Kind"}}, {"events", {"Events"}, true, Type::count}};
  for (const EventLayout& kind : analysis.experiment().header.events)
    table.rows.push_back({kind.name, analysis.first().events(kind.id)});
  return table;
}

}  // namespace

Result<Table> dump_report(Analysis& analysis, const View& view, const std::string& kind) {
  if (kind.empty()) return kinds_table(analysis);
  const EventLayout* layout = kind_named(analysis.experiment().header.events, kind);
  if (!layout)
    return fault("the experiment has no events of kind " + kind, "`dump` lists the kinds");
  const auto profile = analysis.profile(view.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  Table table;
  table.title = "Events of kind " + kind;
  table.notes = all_notes(analysis, **profile, {});
  // The thread and the CPU of compact records stand in their block's header.
  if (layout->is_compact)
    for (const char* name : {"thread", "cpu"})
      table.columns.push_back({name, {name}, true, Type::count});
  for (const auto& field : layout->fields)
    table.columns.push_back({field.name, {field.name}, true, type_of(field.unit)});
  table.columns.push_back({"call_stack", {"call stack"}});
  const std::uint64_t events = analysis.first().events(layout->id);
  if (view.limit != 0 && events > view.limit) table.left_out = {events - view.limit, "events"};
  auto listing = std::make_shared<EventListing>(analysis, **profile, layout->id, view.limit);
  table.list = [listing, interrupt = view.interrupt](const Table::Take& take) {
    return listing->list(take, interrupt);
  };
  return table;
}

}  // namespace gnomon::reader
