// I/O by operation, sizes of what was moved, and why calls failed. Any thread, one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>

#include "reader/report/asked/asked.h"
#include "reader/report/traced/io_events.h"
#include "reader/report/traced/io_reports.h"
#include "reader/report/traced/stack_list.h"

namespace gnomon::reader {
namespace {

using format::IoOperation;

struct OperationSum {
  IoAmount amount;
  std::uint64_t longest = 0, failed = 0;  // ns
  std::array<std::uint64_t, 65>
      by_size{};  // calls: [n]: of less than 2^n bytes, and no fewer than half
};

class IoStatistics {
 public:
  void add(const RecordedIo& io) {
    OperationSum& sum = operations_[io.operation];
    sum.amount.add(io);
    sum.longest = std::max(sum.longest, io.time);
    if (io.error != 0) {
      ++sum.failed;
      ++errors_[{io.operation, io.error}];
    } else if (io.operation == IoOperation::read || io.operation == IoOperation::write) {
      ++sum.by_size[static_cast<std::size_t>(std::bit_width(io.bytes))];
    }
  }

  Table table() const {
    Table table;
    table.title = "Statistics of I/O";
    table.columns = {{"operation", {"Operation"}},
                     {"calls", {"Calls"}, true, Type::count},
                     {"bytes", {"Bytes"}, true, Type::bytes},
                     {"time", {"Total", "", "sec."}, true, Type::time},
                     {"mean", {"Mean", "", "msec."}, true, Type::time},
                     {"longest", {"Longest", "", "msec."}, true, Type::time},
                     {"failed", {"Failed"}, true, Type::count}};
    for (const auto& [operation, sum] : operations_) add_operation(table, operation, sum);
    for (const auto& [key, calls] : errors_)
      add_calls(
          table,
          fmt::format("{}: {}", name_of(key.first), strerrordesc_np(static_cast<int>(key.second))),
          calls);
    for (const auto& [operation, sum] : operations_) add_sizes(table, operation, sum);
    return table;
  }

 private:
  static std::string name_of(IoOperation operation) {
    const auto at = static_cast<std::size_t>(operation);
    return std::string(at < format::kIoOperations.size() ? format::kIoOperations[at] : "other");
  }

  static void add_operation(Table& table, IoOperation operation, const OperationSum& sum) {
    Row row;
    row.emplace_back(name_of(operation));
    row.emplace_back(sum.amount.calls);
    row.emplace_back(Empty{});
    if (operation == IoOperation::read || operation == IoOperation::write)
      row.back() = sum.amount.bytes;
    row.emplace_back(Nanoseconds{sum.amount.time});
    row.emplace_back(ShortTime{{sum.amount.time / std::max<std::uint64_t>(sum.amount.calls, 1)}});
    row.emplace_back(ShortTime{{sum.longest}});
    row.emplace_back(sum.failed);
    table.rows.push_back(std::move(row));
  }
  static void add_calls(Table& table, std::string what, std::uint64_t calls) {
    Row row;
    row.emplace_back(std::move(what));
    row.emplace_back(calls);
    for (int i = 0; i < 5; ++i) row.emplace_back(Empty{});
    table.rows.push_back(std::move(row));
  }
  static void add_sizes(Table& table, IoOperation operation, const OperationSum& sum) {
    for (std::size_t bits = 0; bits < sum.by_size.size(); ++bits) {
      if (sum.by_size[bits] == 0) continue;
      const std::uint64_t first = bits == 0 ? 0 : std::uint64_t{1} << (bits - 1);
      add_calls(table,
                bits < 2 ? fmt::format("{} of {}", name_of(operation), counted(first, "byte"))
                         : fmt::format("{} of {} to {} bytes", name_of(operation), first,
                                       first + (first - 1)),
                sum.by_size[bits]);
    }
  }

  std::map<IoOperation, OperationSum> operations_;
  std::map<std::pair<IoOperation, std::uint32_t>, std::uint64_t> errors_;
};

}  // namespace

Result<Table> io_statistics_report(Analysis& analysis, const View& view) {
  if (auto has = has_io(analysis); !has) return tl::unexpected(has.error());
  const auto asked = ask(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  IoStatistics statistics;
  for (const auto& part : analysis.parts()) {
    const auto files =
        each_io(*part, view.interrupt, [&](const RecordedIo& io) { statistics.add(io); });
    if (!files) return tl::unexpected(files.error());
  }
  Table table = statistics.table();
  if (view.limit != 0 && table.rows.size() > view.limit) {
    table.left_out = {table.rows.size() - view.limit, "rows"};
    table.rows.resize(view.limit);
  }
  return with_losses(Result<Table>(std::move(table)), analysis, *asked);
}

}  // namespace gnomon::reader
