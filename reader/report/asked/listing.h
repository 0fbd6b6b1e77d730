// A listing of code: lines or instructions with metrics on their left, hot ones marked. Any thread.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "reader/analysis/view.h"
#include "reader/lines/places.h"
#include "reader/report/base/items.h"
#include "reader/table/table.h"

namespace gnomon::reader {

class Listing {
 public:
  // metrics: what the list of the user comes to. threshold: of the largest value, percent. hidden:
  // columns that text tells by its layout.
  Listing(const Items& items, const MetricList& metrics, double threshold,
          std::vector<Column> hidden);

  // The items will be a row of the listing. To be called before the first row is added, as the
  // largest values are those of all of them.
  void regard(std::span<const std::uint32_t> items);
  // A row with the values of these items together; without any they are 0.
  void add(std::span<const std::uint32_t> items, Row hidden, Code code);
  // A row without values. hidden: may be left away.
  void add_text(Code code, Row hidden = {});

  Table table;

 private:
  std::uint64_t value(const MetricColumn& column, std::span<const std::uint32_t> items) const;
  void finish(Row row, Row hidden, Code code);

  const Items& items_;
  MetricList metrics_;
  double threshold_;
  std::size_t hidden_;                  // columns
  std::vector<std::uint64_t> largest_;  // by column of the metrics
};

// The source files that a listing shows, each read once.
class SourceTexts {
 public:
  SourceTexts(const Places& places, const SourceSearch& search)
      : places_(places), search_(search) {}

  // Where the file is now; empty: nowhere.
  const std::string& found(SourceFileId file) { return of(file).found; }
  // Lines of the file that is there.
  std::size_t lines(SourceFileId file) { return of(file).lines.size(); }
  // Empty where there is none.
  std::string line(SourceFileId file, std::uint32_t number);
  // "Source file: /src/list.c (found as /home/me/list.c)"
  std::string title(SourceFileId file);
  // What is wrong with a file's text, sentences. object: what was compiled from it.
  std::vector<std::string> notes(SourceFileId file, const std::string& object);

 private:
  struct Text {
    std::string found;
    std::vector<std::string> lines;
    std::string fault;  // empty: it was read
  };
  const Text& of(SourceFileId file);

  const Places& places_;
  const SourceSearch& search_;
  std::map<SourceFileId, Text> texts_;
};

}  // namespace gnomon::reader
