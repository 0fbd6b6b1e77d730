// Annotated source: the lines of a function or of a file, with metrics. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reader/report/asked/asked.h"
#include "reader/report/asked/chosen_function.h"
#include "reader/report/asked/listing.h"
#include "reader/report/asked/report.h"
#include "reader/report/stop/stop_reports.h"
#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

// Where a line of the source has its number.
constexpr const char* kNoLine = "      ";

// The lines to show of a file, from 1 on.
struct Region {
  SourceFileId file = SourceFileId::none;
  std::uint32_t begin = 1, end = ~0u;
};

class SourceListing {
 public:
  SourceListing(Analysis& analysis, const PlaceItems& items, const Asked& asked, const View& view)
      : places_(analysis.code()),
        items_(items),
        profile_(*asked.profile),
        view_(view),
        texts_(places_, view.sources),
        listing_(items, asked.shown.metrics, view.source_threshold,
                 {{"line", {}, false, Type::count}}) {}

  // From the line where the function begins to the last that it has code of. Single instructions
  // of inlined functions can stand beside their calls in the DWARF: their lines are far away.
  Result<Region> of_function(FunctionId id) {
    const Function& function = profile_.function(id);
    if (function.object.empty())
      return fault(profile_.name(id) + " is no function of a file", "`lines` lists lines");
    const SourcePlace begin = places_.begin_of(id, view_.interrupt);
    if (!begin.is_known()) return without_lines(id);
    object_ = function.object;
    Region region{begin.file, begin.line, begin.line};
    const DefinedLines defined = places_.defined_lines(function, view_.interrupt);
    const bool is_defined = defined.file == begin.file;
    if (is_defined) region.begin = region.end = defined.begin;
    const auto take = [&](const SourcePlace& place) {
      if (place.file != region.file) return;
      if (is_defined && (place.line < defined.begin || place.line > defined.end)) return;
      region.begin = std::min(region.begin, place.line);
      region.end = std::max(region.end, place.line);
    };
    for (const SourcePlace& place : places_.places_of(function, view_.interrupt)) take(place);
    // Of what is inlined everywhere, the lines that were met.
    for (std::uint32_t item = 0; function.is_inlined && item < items_.size(); ++item)
      if (items_.place(item).function == id) take(items_.place(item).source);
    return region;
  }

  // Marks the line at which the program has stopped; the text of all lines is moved to the right.
  void mark(std::uint32_t line) { stop_line_ = line; }

  Result<Table> list(const Region& region) {
    functions_ = functions_of(region.file, profile_, places_, view_.interrupt);
    find_items(region);
    Table& table = listing_.table;
    table.title = texts_.title(region.file);
    if (!object_.empty()) table.title += "\nLoad object: " + object_;
    if (object_.empty() && !functions_.empty())
      object_ = profile_.function(functions_.begin()->second.front()).object;
    table.notes = texts_.notes(region.file, object_);
    const std::vector<std::uint32_t> with_code =
        places_.lines_with_code(region.file, view_.style.inlines);
    const bool has_text = !texts_.found(region.file).empty();
    const std::size_t last = has_text            ? texts_.lines(region.file)
                             : with_code.empty() ? 0
                                                 : with_code.back();
    auto code = with_code.begin();
    for (std::uint32_t line = region.begin; line <= std::min<std::size_t>(region.end, last);
         ++line) {
      if (view_.interrupt.asked(line)) return interrupted();
      code = std::lower_bound(code, with_code.end(), line);
      add_functions(line);
      add_line(region.file, line, code != with_code.end() && *code == line, has_text);
    }
    return std::move(table);
  }

 private:
  tl::unexpected<Fault> without_lines(FunctionId id) {
    const auto reason = places_.without_lines().find(profile_.function(id).object);
    return fault(fmt::format("{} has no line numbers", profile_.name(id)),
                 reason == places_.without_lines().end()
                     ? "compile its file with -g"
                     : reason->second.substr(0, reason->second.size() - 1));
  }

  void find_items(const Region& region) {
    for (std::uint32_t item = 0; item < items_.size(); ++item) {
      const Place& place = items_.place(item);
      if (!place.source.is_known()) {
        without_line_[place.function] = item;
      } else if (place.source.file == region.file) {
        by_line_[place.source.line] = item;
        if (place.source.line >= region.begin && place.source.line <= region.end)
          listing_.regard({&item, 1});
      }
    }
  }

  void add_functions(std::uint32_t line) {
    const auto at = functions_.find(line);
    if (at == functions_.end()) return;
    std::set<std::string> stems;
    for (const FunctionId id : at->second)
      stems.insert(std::string(without_clone(profile_.name(id))));
    for (const std::string& stem : stems)
      listing_.add_text({no_line(), fmt::format("<Function: {}>", stem)});
    for (const FunctionId id : at->second)
      if (const auto found = without_line_.find(id);
          found != without_line_.end() && has_value(found->second))
        listing_.add({&found->second, 1}, {}, {no_line(), items_.name(found->second).text()});
  }

  std::string no_line() const { return stop_line_ ? std::string("   ") + kNoLine : kNoLine; }

  bool has_value(std::uint32_t item) const {
    return items_.value(Flavour::inclusive, kTicks, item) != 0;
  }

  void add_line(SourceFileId file, std::uint32_t line, bool has_code, bool has_text) {
    if (!has_text && !has_code) return;
    const char* const mark = !stop_line_ ? "" : line == *stop_line_ ? "-> " : "   ";
    Code code{fmt::format("{}{:>4}. ", mark, line), texts_.line(file, line)};
    Row hidden{std::uint64_t{line}};
    const auto found = by_line_.find(line);
    if (found != by_line_.end())
      listing_.add({&found->second, 1}, std::move(hidden), std::move(code));
    else if (has_code)
      listing_.add({}, std::move(hidden), std::move(code));
    else
      listing_.add_text(std::move(code), std::move(hidden));
  }

  Places& places_;
  const PlaceItems& items_;
  const Profile& profile_;
  const View& view_;
  SourceTexts texts_;
  Listing listing_;
  std::optional<std::uint32_t> stop_line_;
  std::string object_;                                          // of the function, or of a first
  std::map<std::uint32_t, std::uint32_t> by_line_;              // item
  std::map<FunctionId, std::uint32_t> without_line_;            // item
  std::map<std::uint32_t, std::vector<FunctionId>> functions_;  // by their first line
};

// Where a frame is in the source.
Result<SourcePlace> place_of(Analysis& analysis, const View& view, const Backtrace& backtrace,
                             std::size_t number) {
  const std::uint64_t code = code_of(backtrace, number);
  const Epoch epoch = analysis.newest_epoch();
  const auto location = analysis.address_space().locate(code, epoch);
  if (!location)
    return fault("the code of the selected frame is in no load object",
                 "`up` selects the frame that called it");
  std::size_t level = 0;
  while (level < number && backtrace[number - level - 1].is_inlined) ++level;
  const auto& chain = analysis.code().inlined_at(code, epoch, view.interrupt);
  const SourcePlace place = level < chain.size()
                                ? chain[chain.size() - 1 - level].source
                                : analysis.code().source(*location, view.interrupt);
  if (place.is_known()) return place;
  return fault("the code of the selected frame has no line numbers",
               "compile its file with -g, or `up` selects the frame that called it");
}

}  // namespace

Result<Table> around_report(Analysis& analysis, const View& view, const Backtrace& backtrace,
                            std::uint32_t lines) {
  const auto found = ask_places(analysis, view, Grain::source);
  if (!found) return tl::unexpected(found.error());
  const auto& [asked, items] = *found;
  const auto selected = std::find_if(backtrace.begin(), backtrace.end(),
                                     [](const BacktraceFrame& f) { return f.is_selected; });
  const auto place =
      place_of(analysis, view, backtrace, static_cast<std::size_t>(selected - backtrace.begin()));
  if (!place) return tl::unexpected(place.error());
  SourceListing listing(analysis, items, asked, view);
  listing.mark(place->line);
  const std::uint32_t begin = place->line > lines ? place->line - lines : 1;
  return with_losses(listing.list({place->file, begin, place->line + lines}), analysis, asked);
}

Result<Table> source_report(Analysis& analysis, const View& view, const FunctionChoice& choice) {
  const auto found = ask_places(analysis, view, Grain::source);
  if (!found) return tl::unexpected(found.error());
  const auto& [asked, items] = *found;
  const auto code = chosen_code(choice, asked, analysis.code());
  if (!code) return tl::unexpected(code.error());
  SourceListing listing(analysis, items, asked, view);
  const auto region =
      code->function ? listing.of_function(*code->function) : Result<Region>(Region{code->file});
  if (!region) return tl::unexpected(region.error());
  return with_losses(listing.list(*region), analysis, asked);
}

}  // namespace gnomon::reader
