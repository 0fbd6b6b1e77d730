// A report's table as the user wants it printed. Any thread.
#include "commands/base/command.h"

namespace gnomon::commands {
namespace {

using reader::Table;

constexpr std::size_t kMostKept = 64 << 20;  // bytes that an answer keeps

// CSV has rows only: what stands above and below a table becomes warnings.
Result<void> print(Host& host, const Invocation& call, Format format, const Table& table,
                   const reader::Put& put) {
  if (format == Format::json) return print_json(table, host.interrupt(), put);
  if (format == Format::html) return print_html(table, host.interrupt(), put);
  if (format == Format::csv)
    return print_csv(table, host.interrupt(), put, call.format ? ',' : host.choice().delimiter);
  reader::TextStyle style = host.style();
  style.width = call.width.value_or(style.width);
  return print_text(table, style, host.interrupt(), put);
}

}  // namespace

Result<Answer> render(Host& host, const Invocation& call, const Table& table) {
  const Format format = call.format.value_or(host.choice().format);
  Answer answer;
  reader::Put put = host.printer();
  if (!put)
    put = [&](std::string_view piece) -> Result<void> {
      if (answer.text.size() + piece.size() > kMostKept)
        return fault(
            "the table has more than 64 MB of text",
            "--limit N shows its first rows; `gnomon print` in the shell writes all of it");
      answer.text += piece;
      return {};
    };
  if (auto printed = print(host, call, format, table, put); !printed)
    return tl::unexpected(printed.error());
  if (format != Format::csv) return answer;
  answer.warnings = table.notes;
  if (const std::string note = left_out_note(table); !note.empty()) answer.warnings.push_back(note);
  return answer;
}

}  // namespace gnomon::commands
