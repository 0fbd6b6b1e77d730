// A table as HTML. Any thread.
#include <fmt/format.h>

#include <algorithm>

#include "reader/base/one_line.h"
#include "reader/table/table.h"
#include "reader/table/text_cells.h"

namespace gnomon::reader {
namespace {

std::string escaped(const std::string& raw) {
  const std::string text = one_line(raw);
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// The lines of a title, each escaped.
std::string lines_of(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += (out.empty() ? "" : "<br>") + escaped(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string title_of(const Column& column) {
  std::string out;
  for (const std::string& line : column.title)
    out += (out.empty() || line.empty() ? "" : "<br>") + escaped(line);
  return out.empty() ? escaped(column.id) : out;
}

std::string cell_of(const Cell& cell, const Column& column) {
  const bool is_text = column.type == Type::text;
  const auto* label = std::get_if<Label>(&cell);
  std::string text = escaped(cell_text(cell, 0));
  if (label && label->is_strong) text = "<strong>" + text + "</strong>";
  const bool keeps_blanks = label || std::holds_alternative<Code>(cell);
  return fmt::format("<td{}>{}</td>",
                     !is_text       ? " class=\"n\""
                     : keeps_blanks ? " class=\"p\""
                                    : "",
                     text);
}

}  // namespace

Result<void> print_html(const Table& table, const Interrupt& interrupt, const Put& put) {
  std::string head = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n<style>"
      "body{{font-family:sans-serif}}td,th{{padding:0 .6em;text-align:left;vertical-align:bottom}}"
      ".n{{text-align:right;font-variant-numeric:tabular-nums}}"
      ".p{{white-space:pre;font-family:monospace}}</style></head><body>\n<h1>{}</h1>\n",
      escaped(table.title.substr(0, table.title.find('\n'))), lines_of(table.title));
  if (!table.notes.empty()) {
    head += "<ul>\n";
    for (const std::string& note : table.notes) head += "<li>" + escaped(note) + "</li>\n";
    head += "</ul>\n";
  }
  head += "<table>\n<thead><tr>";
  for (const Column& column : table.columns)
    head += fmt::format("<th{}>{}</th>", column.type == Type::text ? "" : " class=\"n\"",
                        title_of(column));
  if (auto done = put(head + "</tr></thead>\n<tbody>\n"); !done) return done;
  std::size_t number = 0;
  auto group = table.groups.begin();
  auto done = table.each_row([&](const Row& row) -> Result<void> {
    if (interrupt.asked(number)) return interrupted();
    std::string line;
    if (group != table.groups.end() && *group == number) {
      line = fmt::format("<tr><td colspan=\"{}\">&nbsp;</td></tr>\n", table.columns.size());
      ++group;
    }
    ++number;
    line += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) line += cell_of(row[c], table.columns[c]);
    return put(line + "</tr>\n");
  });
  if (!done) return done;
  const std::string note = left_out_note(table);
  return put("</tbody></table>\n" + (note.empty() ? "" : "<p>" + escaped(note) + "</p>\n") +
             "</body></html>\n");
}

}  // namespace gnomon::reader
