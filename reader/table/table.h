// A table of typed cells, before it becomes text, JSON or CSV. Any thread.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/base/units.h"

namespace gnomon::reader {

// Text has it in milliseconds.
struct ShortTime {
  Nanoseconds value;
};

struct Percent {
  double value = 0;
};

// A name that text shows behind a mark, such as the branches of a tree.
struct Label {
  std::string mark, name;
  bool is_strong = false;  // what its group is about
};

// A function's name with more around it; text shortens the name alone.
struct Phrase {
  std::string before, name, after;
  std::string text() const { return before + name + after; }
};

// A line of source or an instruction, of which text keeps the blanks, behind its place.
struct Code {
  std::string place, text;
};

struct Address {
  std::uint64_t value = 0;
};

// Of two values; of times in ns.
struct Difference {
  std::int64_t value = 0;
  bool is_time = false;
};
struct Ratio {
  double value = 0;
};

struct Empty {};  // there is no such value

using Cell = std::variant<std::string, std::uint64_t, Nanoseconds, ShortTime, Percent, Label,
                          Phrase, Code, Address, Difference, Ratio, Empty>;

// number: of several units, which the column `unit` tells.
enum class Type { text, count, bytes, time, percent, address, number };

struct Column {
  std::string id;                  // in JSON and CSV
  std::vector<std::string> title;  // lines, the unit last
  bool in_text = true;             // false: what text tells by its layout
  Type type = Type::text;          // of its cells, as far as they are not Empty
  bool is_prose = false;           // the last one: a cell becomes lines instead of being shortened
};

// What a limit left out.
struct LeftOut {
  std::uint64_t count = 0;
  std::string what;  // plural
};

using Row = std::vector<Cell>;

struct Table {
  // Called with each row; a fault ends the listing.
  using Take = std::function<Result<void>(const Row&)>;

  std::string title;               // one or more lines
  std::vector<std::string> notes;  // what was lost or cannot be trusted; printed above the rows
  std::vector<Column> columns;
  std::vector<Row> rows;  // each as long as columns
  // Instead of `rows`, where they are too many to be kept: gives them one after the other, each
  // time from the first.
  std::function<Result<void>(const Take&)> list;
  std::vector<std::size_t> groups;  // rows before which text leaves a line blank, ascending
  LeftOut left_out;
  bool is_of_blocks = false;  // text shows a row as a block of lines, the first column above

  // Gives every row to `take`, from `rows` or from `list`. Fault: `take` returned it, or `list`.
  Result<void> each_row(const Take& take) const;
};

struct TextStyle {
  std::size_t width = 0;  // columns: names in the last strip are shortened to it; 0: never
  bool has_color = false;
};

// Takes the next piece of a table's text, lines. A fault ends the printing.
using Put = std::function<Result<void>(std::string_view)>;

// They give text as it comes and keep none, so that a table can be of any length; one whose rows
// are listed is listed twice. Fault: interrupted, or what `put` or the listing returned. Numbers to
// the right, text to the left.
Result<void> print_text(const Table& table, const TextStyle& style, const Interrupt& interrupt,
                        const Put& put);
// {"title", "notes", "columns": [{"id", "title", "type", "unit"}], "rows": [{column id: value}],
// "left_out"}; times in seconds, null: there is no such value.
Result<void> print_json(const Table& table, const Interrupt& interrupt, const Put& put);
// RFC 4180: a line of column ids, then one line for each row; times in seconds. The notes are not
// in it. delimiter: stands between cells.
Result<void> print_csv(const Table& table, const Interrupt& interrupt, const Put& put,
                       char delimiter = ',');
// A page of its own.
Result<void> print_html(const Table& table, const Interrupt& interrupt, const Put& put);

// The whole text of a small table.
Result<std::string> to_text(const Table& table, const TextStyle& style = {});

// "46 more functions; --limit 0 shows all."; empty: nothing was left out.
std::string left_out_note(const Table& table);

}  // namespace gnomon::reader
