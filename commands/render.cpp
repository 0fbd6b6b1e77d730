// A report's table as the user wants it printed. Any thread.
#include "commands/command.h"

namespace gnomon::commands {
namespace {

using reader::Table;

// CSV has rows only: what stands above and below a table becomes warnings.
Result<std::string> text_of(const Host& host, const Invocation& call, const Table& table) {
  if (call.format == Format::json) return to_json(table, host.interrupt());
  if (call.format == Format::csv) return to_csv(table, host.interrupt());
  reader::TextStyle style = host.style();
  style.width = call.width.value_or(style.width);
  return to_text(table, style, host.interrupt());
}

}  // namespace

Result<Answer> render(const Host& host, const Invocation& call, const Table& table) {
  auto text = text_of(host, call, table);
  if (!text) return tl::unexpected(text.error());
  Answer answer{std::move(*text), {}};
  if (call.format != Format::csv) return answer;
  answer.warnings = table.notes;
  if (const std::string note = left_out_note(table); !note.empty()) answer.warnings.push_back(note);
  return answer;
}

}  // namespace gnomon::commands
