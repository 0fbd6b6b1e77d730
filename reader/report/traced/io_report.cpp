// I/O by file, by descriptor and by call stack. Any thread, one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "reader/report/asked/asked.h"
#include "reader/report/traced/io_events.h"
#include "reader/report/traced/io_reports.h"
#include "reader/report/traced/stack_list.h"

namespace gnomon::reader {
namespace {

// What a table shows of each sum besides reads and writes. Operations that take little time count
// among the others.
struct Kinds {
  bool syncs, opens, waits, failed;
  explicit Kinds(const IoSum& all)
      : syncs(matters(all.syncs, all)),
        opens(matters(all.opens, all)),
        waits(all.waits.calls != 0),
        failed(all.failed.calls != 0) {}

 private:
  static bool matters(const IoAmount& part, const IoSum& all) {
    constexpr std::uint64_t kPart = 20;
    return part.calls != 0 && part.time >= all.time() / kPart;
  }
};

std::vector<Column> columns_of(const Kinds& kinds) {
  std::vector<Column> columns{{"read_bytes", {"Read", "", "bytes"}, true, Type::bytes},
                              {"reads", {"Reads"}, true, Type::count},
                              {"read_time", {"Time", "", "sec."}, true, Type::time},
                              {"written_bytes", {"Written", "", "bytes"}, true, Type::bytes},
                              {"writes", {"Writes"}, true, Type::count},
                              {"write_time", {"Time", "", "sec."}, true, Type::time}};
  const auto add = [&](const char* calls, const char* title, const char* time) {
    columns.push_back({calls, {title}, true, Type::count});
    columns.push_back({time, {"Time", "", "sec."}, true, Type::time});
  };
  if (kinds.syncs) add("syncs", "Syncs", "sync_time");
  if (kinds.opens) add("opens", "Opens", "open_time");
  add("others", "Others", "other_time");
  if (kinds.waits) add("waits", "Waits", "wait_time");
  if (kinds.failed) columns.push_back({"failed", {"Failed"}, true, Type::count});
  return columns;
}

Row row_of(const IoSum& sum, const Kinds& kinds) {
  Row row;
  const auto add = [&](const IoAmount& amount, bool has_bytes) {
    if (has_bytes) row.emplace_back(amount.bytes);
    row.emplace_back(amount.calls);
    row.emplace_back(Nanoseconds{amount.time});
  };
  IoAmount others = sum.others;
  if (!kinds.syncs) others += sum.syncs;
  if (!kinds.opens) others += sum.opens;
  add(sum.reads, true);
  add(sum.writes, true);
  if (kinds.syncs) add(sum.syncs, false);
  if (kinds.opens) add(sum.opens, false);
  add(others, false);
  if (kinds.waits) add(sum.waits, false);
  if (kinds.failed) row.emplace_back(sum.failed.calls);
  return row;
}

std::tuple<std::uint64_t, std::uint64_t> weight(const IoSum& sum) {
  return {sum.time(), sum.reads.bytes + sum.writes.bytes};
}

std::string title_of(const std::string& what, const IoSum& all, const Kinds& kinds) {
  std::string title = fmt::format(
      "I/O by {}: {} in {:.3f} s, {} in {:.3f} s", what, counted(all.reads.bytes, "byte") + " read",
      seconds(Nanoseconds{all.reads.time}), counted(all.writes.bytes, "byte") + " written",
      seconds(Nanoseconds{all.writes.time}));
  const auto add = [&](bool is_shown, const IoAmount& amount, const char* name) {
    if (is_shown)
      title += fmt::format(", {} in {:.3f} s", counted(amount.calls, name),
                           seconds(Nanoseconds{amount.time}));
  };
  add(kinds.syncs, all.syncs, "sync");
  add(kinds.opens, all.opens, "open");
  add(kinds.waits, all.waits, "wait");
  return title;
}

// The call stacks are those of all calls; a metric of calls that were not made would be refused.
MetricList io_metrics(const Analysis& analysis) {
  constexpr std::array kEach{kReads, kWrites, kOtherIo, kIoWaits, kIoErrors};
  const auto* const metric = std::find_if(kEach.begin(), kEach.end() - 1,
                                          [&](MetricId each) { return analysis.sums().has(each); });
  MetricList metrics;
  metrics.columns.emplace_back(MetricColumn{Flavour::exclusive, *metric, false});
  metrics.columns.emplace_back(Static::name);
  return metrics;
}

// By name; by descriptor as well where each opening counts for itself.
struct FileKey {
  std::size_t part;
  std::uint32_t file;
  std::string name;
  std::int32_t descriptor;
  auto order() const { return std::tie(part, file, name, descriptor); }
  friend bool operator<(const FileKey& a, const FileKey& b) { return a.order() < b.order(); }
};

// What is about no descriptor that is known.
constexpr const char* kNoFile = "<no file, or several>";

Result<std::map<FileKey, IoSum>> files_of(Analysis& analysis, bool by_descriptor,
                                          const Interrupt& interrupt) {
  std::map<FileKey, IoSum> sums;
  for (std::size_t number = 0; number < analysis.parts().size(); ++number) {
    std::unordered_map<std::uint32_t, IoSum> by_file;
    const auto files = each_io(*analysis.parts()[number], interrupt,
                               [&](const RecordedIo& io) { by_file[io.file].add(io); });
    if (!files) return tl::unexpected(files.error());
    for (const auto& [file, sum] : by_file) {
      const auto found = files->find(file);
      const bool is_known = found != files->end();
      const std::string name = is_known ? found->second.name : kNoFile;
      if (by_descriptor && is_known)
        sums[{number, file, name, found->second.descriptor}] += sum;
      else
        sums[{0, 0, name, -1}] += sum;
    }
  }
  return sums;
}

}  // namespace

Result<Table> io_files_report(Analysis& analysis, const View& view, bool by_descriptor) {
  if (auto has = has_io(analysis); !has) return tl::unexpected(has.error());
  const auto asked = ask(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const auto files = files_of(analysis, by_descriptor, view.interrupt);
  if (!files) return tl::unexpected(files.error());
  IoSum all;
  std::vector<std::pair<FileKey, IoSum>> sorted(files->begin(), files->end());
  for (const auto& [key, sum] : sorted) all += sum;
  const Kinds kinds(all);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return weight(a.second) > weight(b.second);
  });
  Table table;
  table.title = title_of(by_descriptor ? "descriptor" : "file", all, kinds) + ", " +
                counted(sorted.size(), by_descriptor ? "descriptor" : "file");
  table.columns = columns_of(kinds);
  if (by_descriptor) table.columns.push_back({"descriptor", {"Descriptor"}, true, Type::count});
  table.columns.push_back({"name", {"Name"}});
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (view.limit != 0 && i == view.limit) {
      table.left_out = {sorted.size() - i, by_descriptor ? "descriptors" : "files"};
      break;
    }
    const auto& [key, sum] = sorted[i];
    Row row = row_of(sum, kinds);
    if (by_descriptor) row.emplace_back(Empty{});
    if (by_descriptor && key.descriptor >= 0)
      row.back() = static_cast<std::uint64_t>(key.descriptor);
    row.emplace_back(key.name);
    table.rows.push_back(std::move(row));
  }
  return with_losses(Result<Table>(std::move(table)), analysis, *asked);
}

namespace {

// What was called, where its caller may have no name: "<sync>".
std::string leaf_of(format::IoOperation operation) {
  const auto number = static_cast<std::size_t>(operation);
  return fmt::format("<{}>", number != 0 && number < format::kIoOperations.size()
                                 ? format::kIoOperations[number]
                                 : "other");
}

}  // namespace

Result<Table> io_stacks_report(Analysis& analysis, const View& view) {
  if (auto has = has_io(analysis); !has) return tl::unexpected(has.error());
  const auto stacks = StackList::of(analysis, view, io_metrics(analysis));
  if (!stacks) return tl::unexpected(stacks.error());
  using Key = std::pair<std::vector<PlaceId>, format::IoOperation>;
  std::map<Key, IoSum> by_path;
  IoSum all;
  for (std::size_t number = 0; number < analysis.parts().size(); ++number) {
    std::map<std::pair<std::uint32_t, format::IoOperation>, IoSum> by_stack;
    const auto files =
        each_io(*analysis.parts()[number], view.interrupt, [&](const RecordedIo& io) {
          by_stack[{io.stack, io.operation}].add(io);
        });
    if (!files) return tl::unexpected(files.error());
    for (const auto& [stack, sum] : by_stack)
      by_path[{stacks->path_of(number, stack.first), stack.second}] += sum;
  }
  std::vector<std::pair<Key, IoSum>> sorted(by_path.begin(), by_path.end());
  for (const auto& [path, sum] : sorted) all += sum;
  const Kinds kinds(all);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return weight(a.second) > weight(b.second);
  });
  std::vector<ListedStack> listed;
  for (const auto& [key, sum] : sorted)
    listed.push_back({row_of(sum, kinds), key.first, leaf_of(key.second)});
  Table table;
  table.title = title_of("call stack", all, kinds) + ", " + counted(sorted.size(), "call stack");
  const auto done = stacks->list(table, columns_of(kinds), listed, view);
  if (!done) return tl::unexpected(done.error());
  return stacks->with_losses(std::move(table), analysis);
}

}  // namespace gnomon::reader
