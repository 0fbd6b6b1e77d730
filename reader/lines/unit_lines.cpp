// Line numbers of one compilation unit, and the calls that the compiler inlined there. Any thread,
// one at a time.
#include "reader/lines/unit_lines.h"

#include <dwarf.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace gnomon::reader {
namespace {

std::uint64_t number_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0) return 0;
  return value;
}

// What the DIE is a copy of. Returns false if that is not known.
bool origin_of(Dwarf_Die* die, Dwarf_Die& origin) {
  Dwarf_Attribute attribute;
  return dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
         dwarf_formref_die(&attribute, &origin);
}

// The name that a symbol table has, or would have.
std::string symbol_of(Dwarf_Die* function) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (dwarf_attr_integrate(function, name, &attribute))
      if (const char* text = dwarf_formstring(&attribute)) return text;
  const char* text = dwarf_diename(function);
  return text ? text : "";
}

// Source files of one compilation unit, by the numbers that its DIEs have.
class UnitFiles {
 public:
  // functions, lines: see UnitLines. Of split DWARF clang lists the files beside the lines alone.
  UnitFiles(Dwarf_Die* functions, Dwarf_Die* lines, const NumberFile& number_file)
      : unit_(functions->cu), number_file_(number_file) {
    if (dwarf_getsrcfiles(functions, &files_, &count_) != 0 &&
        dwarf_getsrcfiles(lines, &files_, &count_) != 0)
      files_ = nullptr;
  }

  SourceFileId at(std::uint64_t number) {
    const auto [at, is_new] = numbers_.try_emplace(number, SourceFileId::none);
    const char* const name =
        is_new && files_ && number < count_ ? dwarf_filesrc(files_, number, nullptr, nullptr) : "";
    if (name && *name) at->second = number_file_(name);
    return at->second;
  }

  // Where a function begins, which may be one of another unit.
  SourcePlace declared(Dwarf_Die* function) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    int line = 0;
    if (!dwarf_attr_integrate(function, DW_AT_decl_file, &attribute) ||
        dwarf_formudata(&attribute, &number) != 0 || dwarf_decl_line(function, &line) != 0 ||
        line <= 0)
      return {};
    return {attribute.cu == unit_ ? at(number) : of_other_unit(function),
            static_cast<std::uint32_t>(line)};
  }

 private:
  // libdw has none for a function in the part of split DWARF that stands outside.
  SourceFileId of_other_unit(Dwarf_Die* function) const {
    const char* const name = dwarf_decl_file(function);
    return name ? number_file_(name) : SourceFileId::none;
  }

  const Dwarf_CU* unit_;
  const NumberFile& number_file_;
  Dwarf_Files* files_ = nullptr;
  std::size_t count_ = 0;
  std::unordered_map<std::uint64_t, SourceFileId> numbers_;
};

InlinedFunction inlined_function(Dwarf_Die* die, UnitFiles& files) {
  return {symbol_of(die), files.declared(die)};
}

// take(begin, end) for each range of instructions.
template <typename Take>
void each_range(Dwarf_Die* die, Take take) {
  constexpr int kMost = 1 << 20;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  std::ptrdiff_t at = 0;
  for (int i = 0; i < kMost && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0; ++i)
    if (begin < end) take(begin, end);
}

// What may have functions with instructions in it.
bool holds_functions(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return true;
    default:
      return false;
  }
}

// Becomes the next DIE beside it. Returns false if there is none; damaged ones may lie before it.
bool go_on(Dwarf_Die& die) {
  Dwarf_Die next;
  if (dwarf_siblingof(&die, &next) != 0 || dwarf_dieoffset(&next) <= dwarf_dieoffset(&die))
    return false;
  die = next;
  return true;
}

// Where functions begin that stand in no other function, as a lambda does.
class Definitions {
 public:
  void add(Dwarf_Die& die, const SourcePlace& place) {
    bool is_declaration = false;
    Dwarf_Attribute attribute;
    if (dwarf_attr(&die, DW_AT_declaration, &attribute))
      dwarf_formflag(&attribute, &is_declaration);
    if (is_declaration || !place.is_known()) return;
    const std::uint64_t begin = dwarf_dieoffset(&die);
    Dwarf_Die next;
    const bool has_next = dwarf_siblingof(&die, &next) == 0;
    if (has_next && dwarf_dieoffset(&next) > begin + 1) inner_[begin + 1] = dwarf_dieoffset(&next);
    found_.push_back({first_of(die), place});
  }

  std::vector<SourcePlace> outside_others() const {
    std::vector<SourcePlace> places;
    for (const auto& [offset, place] : found_)
      if (!is_inside(offset)) places.push_back(place);
    std::sort(places.begin(), places.end());
    return places;
  }

 private:
  // Offset of the DIE that stands where the function is declared.
  static std::uint64_t first_of(Dwarf_Die die) {
    constexpr int kMost = 8;  // a longer chain is damaged
    Dwarf_Attribute attribute;
    for (int i = 0; i < kMost; ++i)
      if ((!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
           !dwarf_attr(&die, DW_AT_specification, &attribute)) ||
          !dwarf_formref_die(&attribute, &die))
        break;
    return dwarf_dieoffset(&die);
  }

  bool is_inside(std::uint64_t offset) const {
    auto after = inner_.upper_bound(offset);
    for (int i = 0; after != inner_.begin() && i < 2; ++i)
      if (offset < (--after)->second) return true;
    return false;
  }

  std::map<std::uint64_t, std::uint64_t> inner_;  // offsets of the DIEs inside functions: [, )
  std::vector<std::pair<std::uint64_t, SourcePlace>> found_;
};

}  // namespace

UnitLines::UnitLines(Dwarf_Die unit, Dwarf_Die functions, const NumberFile& number_file,
                     const Interrupt& interrupt) {
  if (const char* name = dwarf_diename(&functions)) name_ = name;
  read_rows(&unit, number_file);
  read_calls(&functions, &unit, number_file, interrupt);
}

void UnitLines::read_rows(Dwarf_Die* unit, const NumberFile& number_file) {
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(unit, &lines, &count) != 0) return;
  std::unordered_map<const char*, SourceFileId> files;  // by libdw's own strings
  rows_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Line* const line = dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    int number = 0;
    bool is_end = false;
    if (!line || dwarf_lineaddr(line, &address) != 0 || dwarf_lineno(line, &number) != 0 ||
        dwarf_lineendsequence(line, &is_end) != 0)
      continue;
    SourcePlace place;
    if (const char* name = is_end ? nullptr : dwarf_linesrc(line, nullptr, nullptr)) {
      const auto [at, is_new] = files.try_emplace(name);
      if (is_new) at->second = number_file(name);
      place = {at->second, static_cast<std::uint32_t>(std::max(number, 0))};
    }
    rows_.push_back({address, place});
  }
  // libdw sorts them by address; of several for one address the last counts.
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const LineRow& a, const LineRow& b) { return a.begin < b.begin; });
}

void UnitLines::read_calls(Dwarf_Die* functions, Dwarf_Die* lines, const NumberFile& number_file,
                           const Interrupt& interrupt) {
  UnitFiles files(functions, lines, number_file);
  struct Step {
    Dwarf_Die die;
    std::uint32_t call, depth;
  };
  std::unordered_map<const void*, std::uint32_t> known;  // functions, by their DIEs
  const auto callee_of = [&](Dwarf_Die* die) {
    Dwarf_Die origin;
    const bool has_origin = origin_of(die, origin);
    const auto [at, is_new] = known.try_emplace(has_origin ? origin.addr : nullptr,
                                                static_cast<std::uint32_t>(functions_.size()));
    if (is_new)
      functions_.push_back(has_origin ? inlined_function(&origin, files) : InlinedFunction{});
    return at->second;
  };
  constexpr std::size_t kDeepest = 1024;  // a tree that is deeper is damaged
  std::vector<CallRange> ranges;
  Definitions definitions;
  std::vector<Step> path;
  Dwarf_Die child;
  if (dwarf_child(functions, &child) != 0) return;
  path.push_back({child, InlinedCall::kNone, 0});
  for (std::uint64_t steps = 0; !path.empty() && !interrupt.asked(steps); ++steps) {
    Step& step = path.back();
    const int tag = dwarf_tag(&step.die);
    std::uint32_t call = step.call, depth = step.depth;
    bool is_entered = holds_functions(tag) && path.size() < kDeepest;
    if (tag == DW_TAG_inlined_subroutine) {
      const SourcePlace at{files.at(number_of(&step.die, DW_AT_call_file)),
                           static_cast<std::uint32_t>(number_of(&step.die, DW_AT_call_line))};
      calls_.push_back({at, callee_of(&step.die), call});
      call = static_cast<std::uint32_t>(calls_.size() - 1);
      ++depth;
      each_range(&step.die, [&](std::uint64_t begin, std::uint64_t end) {
        ranges.push_back({begin, end, call, depth});
      });
    } else if (tag == DW_TAG_subprogram) {
      // A function of its own, also inside another.
      call = InlinedCall::kNone;
      depth = 0;
      const SourcePlace place = files.declared(&step.die);
      definitions.add(step.die, place);
      each_range(&step.die, [&](std::uint64_t begin, std::uint64_t end) {
        bodies_.push_back({begin, end, place});
      });
      // Without instructions: a declaration, or what copies are made of.
      Dwarf_Addr base = 0, begin = 0, end = 0;
      is_entered = is_entered && dwarf_ranges(&step.die, 0, &base, &begin, &end) > 0;
    }
    Dwarf_Die inner;
    const bool has_inner = is_entered && dwarf_child(&step.die, &inner) == 0;
    if (!go_on(step.die)) path.pop_back();
    if (has_inner) path.push_back({inner, call, depth});
  }
  flatten(std::move(ranges));
  std::sort(bodies_.begin(), bodies_.end(),
            [](const FunctionRange& a, const FunctionRange& b) { return a.begin < b.begin; });
  definitions_ = definitions.outside_others();
}

// Where ranges overlap the deepest call counts.
void UnitLines::flatten(std::vector<CallRange> ranges) {
  struct Edge {
    std::uint64_t at;
    bool is_begin;
    std::uint32_t range;
  };
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    edges.push_back({ranges[i].begin, true, i});
    edges.push_back({ranges[i].end, false, i});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::set<std::pair<std::uint32_t, std::uint32_t>> open;  // depth and range
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    const std::pair key(ranges[edge.range].depth, edge.range);
    if (edge.is_begin)
      open.insert(key);
    else
      open.erase(key);
    if (open.empty() || i + 1 == edges.size() || edges[i + 1].at == edge.at) continue;
    const CallRange& deepest = ranges[open.rbegin()->second];
    if (!ranges_.empty() && ranges_.back().end == edge.at && ranges_.back().call == deepest.call)
      ranges_.back().end = edges[i + 1].at;
    else
      ranges_.push_back({edge.at, edges[i + 1].at, deepest.call, deepest.depth});
  }
}

SourcePlace UnitLines::innermost(std::uint64_t address) const {
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), address,
                       [](std::uint64_t a, const LineRow& row) { return a < row.begin; });
  return after == rows_.begin() ? SourcePlace{} : (after - 1)->place;
}

std::uint32_t UnitLines::call_at(std::uint64_t address) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](std::uint64_t a, const CallRange& range) { return a < range.begin; });
  return after != ranges_.begin() && address < (after - 1)->end ? (after - 1)->call
                                                                : InlinedCall::kNone;
}

SourcePlace UnitLines::outermost(std::uint64_t address) const {
  std::uint32_t call = call_at(address);
  if (call == InlinedCall::kNone) return innermost(address);
  while (calls_[call].outer != InlinedCall::kNone) call = calls_[call].outer;
  return calls_[call].at.is_known() ? calls_[call].at : innermost(address);
}

DefinedLines UnitLines::defined_at(std::uint64_t address) const {
  const auto after =
      std::upper_bound(bodies_.begin(), bodies_.end(), address,
                       [](std::uint64_t a, const FunctionRange& body) { return a < body.begin; });
  if (after == bodies_.begin() || address >= (after - 1)->end) return {};
  const SourcePlace begin = (after - 1)->declared;
  const auto next = std::upper_bound(definitions_.begin(), definitions_.end(), begin);
  const bool has_next = next != definitions_.end() && next->file == begin.file;
  return {begin.file, begin.line, has_next ? next->line - 1 : ~0u};
}

std::vector<SourcePlace> UnitLines::places_in(std::uint64_t begin, std::uint64_t end,
                                              bool with_inlined) const {
  std::vector<SourcePlace> places;
  const auto first =
      std::lower_bound(rows_.begin(), rows_.end(), begin,
                       [](const LineRow& row, std::uint64_t a) { return row.begin < a; });
  for (auto row = first; row != rows_.end() && row->begin < end; ++row) {
    places.push_back(outermost(row->begin));
    if (!with_inlined) continue;
    places.push_back(row->place);
    for (std::uint32_t call = call_at(row->begin); call != InlinedCall::kNone;
         call = calls_[call].outer)
      places.push_back(calls_[call].at);
  }
  std::erase_if(places, [](const SourcePlace& place) { return !place.is_known(); });
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

}  // namespace gnomon::reader
