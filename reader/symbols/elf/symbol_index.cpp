// Functions of one load object, sorted by address. Any thread, one at a time.
#include "reader/symbols/elf/symbol_index.h"

#include <algorithm>
#include <tuple>

namespace gnomon::reader {
namespace {

// Returns true if reports show `a` for code that has both names: functions stand before labels, and
// the last in alphabetical order before the others. (Sun Studio Performance Analyzer, "Aliased
// Functions": users most often know code by that one.)
bool is_better(const Symbol& a, const Symbol& b) {
  return std::tie(a.kind, b.name) < std::tie(b.kind, a.name);
}

// One symbol a place.
std::vector<Symbol> merged(std::vector<Symbol> symbols) {
  std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
    return a.begin != b.begin ? a.begin < b.begin : is_better(a, b);
  });
  std::vector<Symbol> places;
  for (Symbol& symbol : symbols) {
    if (places.empty() || places.back().begin != symbol.begin) {
      places.push_back(std::move(symbol));
      continue;
    }
    Symbol& first = places.back();
    first.end = std::max(first.end, symbol.end);  // the sizes may differ
    if (symbol.name != first.name && symbol.kind == first.kind)
      first.aliases.push_back(std::move(symbol.name));
  }
  return places;
}

// nasm names a local label "routine.label".
bool is_local_label(const Symbol& symbol, const Symbol& routine) {
  return symbol.kind == SymbolKind::label && symbol.name.size() > routine.name.size() &&
         symbol.name.starts_with(routine.name) && symbol.name[routine.name.size()] == '.';
}

// The first of `sorted` that is greater, but no more than `otherwise`.
std::uint64_t next_of(const std::vector<std::uint64_t>& sorted, std::uint64_t at,
                      std::uint64_t otherwise) {
  const auto next = std::upper_bound(sorted.begin(), sorted.end(), at);
  return next == sorted.end() ? otherwise : std::min(*next, otherwise);
}

}  // namespace

SymbolIndex::SymbolIndex(std::vector<Symbol> symbols, Bounds bounds,
                         std::vector<std::string> modules)
    : modules_(std::move(modules)),
      starts_(std::move(bounds.starts)),
      ends_(std::move(bounds.ends)) {
  std::uint64_t covered = 0;  // as far as symbols with a size reach
  for (Symbol& symbol : merged(std::move(symbols))) {
    const bool sized = symbol.end > symbol.begin;
    if (!sized &&
        (symbol.begin < covered || (!symbols_.empty() && is_local_label(symbol, symbols_.back()))))
      continue;
    if (sized) covered = std::max(covered, symbol.end);
    symbols_.push_back(std::move(symbol));
  }
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    Symbol& symbol = symbols_[i];
    if (symbol.end > symbol.begin) continue;
    symbol.end = i + 1 < symbols_.size() ? symbols_[i + 1].begin : ~0ull;
    symbol.end = next_of(starts_, symbol.begin, next_of(ends_, symbol.begin, symbol.end));
    if (symbol.end == ~0ull) symbol.end = symbol.begin + 1;
  }
  is_ada_ = std::any_of(symbols_.begin(), symbols_.end(),
                        [](const Symbol& each) { return each.name == "adainit"; });
  make_ranges();
}

// Symbols that begin later hide those around them for as long as they reach.
void SymbolIndex::make_ranges() {
  std::vector<std::uint32_t> open;
  std::uint64_t at = 0;
  const auto advance = [&](std::uint64_t to) {
    for (; !open.empty() && at < to; open.pop_back()) {
      const std::uint64_t end = symbols_[open.back()].end;
      if (at < end) ranges_.push_back({at, std::min(end, to), open.back()});
      at = std::max(at, std::min(end, to));
      if (end > to) return;
    }
    at = to;
  };
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    advance(symbols_[i].begin);
    open.push_back(i);
  }
  advance(~0ull);
}

const Symbol* SymbolIndex::named(const std::string& name, const std::string& wanted) const {
  if (by_name_.empty())
    for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
      by_name_.emplace(symbols_[i].name, i);
      for (const std::string& alias : symbols_[i].aliases)
        if (alias != symbols_[i].name) by_name_.emplace(alias, i);
    }
  const auto only = [&](auto&& fits) -> const Symbol* {
    const Symbol* found = nullptr;
    const auto [first, last] = by_name_.equal_range(name);
    for (auto each = first; each != last; ++each) {
      const Symbol& symbol = symbols_[each->second];
      if (&symbol == found || !fits(symbol)) continue;
      if (found) return nullptr;
      found = &symbol;
    }
    return found;
  };
  if (const Symbol* const one = only([](const Symbol&) { return true; })) return one;
  if (wanted.empty()) return nullptr;
  return only([&](const Symbol& symbol) { return module(symbol) == wanted; });
}

std::uint64_t SymbolIndex::gap_end(std::uint64_t address) const {
  const auto next = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                     [](std::uint64_t a, const Range& r) { return a < r.begin; });
  const std::uint64_t end = next_of(starts_, address, next_of(ends_, address, ~0ull));
  return next == ranges_.end() ? end : std::min(end, next->begin);
}

SymbolIndex::Place SymbolIndex::find(std::uint64_t address) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](std::uint64_t a, const Range& r) { return a < r.begin; });
  std::uint64_t gap_begin = 0;
  if (after != ranges_.begin()) {
    const auto at = after - 1;
    if (address < at->end) return {true, at->symbol, 0};
    gap_begin = at->end;
  }
  const auto start = std::upper_bound(starts_.begin(), starts_.end(), address);
  if (start != starts_.begin()) gap_begin = std::max(gap_begin, *(start - 1));
  return {false, 0, gap_begin};
}

}  // namespace gnomon::reader
