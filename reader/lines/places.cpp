// Names places in the recorded code. Any thread, one at a time.
#include "reader/lines/places.h"

#include <set>

#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

constexpr std::uint64_t kWithoutLine = ~0ull;
constexpr const char* kMadeCode = "<Code made at run time>";

}  // namespace

PlaceId Places::add(Grain grain, const Key& key, const Place& place) {
  OfGrain& own = grains_[index(grain)];
  const auto [at, is_new] =
      own.known.try_emplace(key, PlaceId{static_cast<std::uint32_t>(own.places.size())});
  if (is_new) own.places.push_back(place);
  return at->second;
}

PlaceId Places::add_line(Grain grain, FunctionId function, const SourcePlace& source) {
  const FunctionId stem = stem_of(function);
  if (!source.is_known()) return of(grain, stem);
  const std::uint32_t within = grain == Grain::line ? index(stem) : ~0u;
  return add(grain, {within, index(source.file), source.line}, {stem, source});
}

PlaceId Places::of(Grain grain, FunctionId function) {
  return add(grain, {index(function), kWithoutLine, 0}, {function});
}

PlaceId Places::of_object(FunctionId id) {
  const Function& function = space_.function(id);
  if (!function.object.empty()) return add(Grain::object, {~0u, function.file, 0}, {id});
  return of(Grain::object, function.name.starts_with('<') ? id : space_.named(kMadeCode));
}

PlaceId Places::of_hidden(Grain grain, std::size_t file) {
  const FunctionId function = space_.hidden(file);
  return grain == Grain::object ? of_object(function) : of(grain, function);
}

// The function that stands for all copies and parts that a compiler has made of it.
FunctionId Places::stem_of(FunctionId id) {
  if (index(id) >= stem_of_.size()) stem_of_.resize(space_.size());
  std::optional<FunctionId>& known = stem_of_[index(id)];
  if (known) return *known;
  const Function& function = space_.function(id);
  const std::string stem(without_clone(function.name));
  if (stem == function.name) return *(known = id);
  const std::tuple key{function.object, function.module, stem};
  const auto whole = space_.stem_of(id);
  known = whole ? *whole : stems_.try_emplace(key, id).first->second;
  return *known;
}

ObjectLines* Places::lines_of(std::size_t file, const Interrupt& interrupt) {
  const auto [at, is_new] = lines_.try_emplace(file);
  if (!is_new) return at->second ? &*at->second : nullptr;
  const std::string& path = space_.path(file);
  auto module = space_.open(file, interrupt);
  if (!module) {
    without_lines_[path] = sentence(module.error());
    return nullptr;
  }
  auto opened = ObjectLines::open(std::move(*module), path, files_, interrupt);
  if (!opened) {
    without_lines_[path] = sentence(opened.error());
    return nullptr;
  }
  at->second.emplace(std::move(*opened));
  return &*at->second;
}

const CodeBytes& Places::code(std::size_t file, const Interrupt& interrupt) {
  const auto [at, is_new] = code_.try_emplace(file);
  if (!is_new) return at->second;
  if (const auto module = space_.open(file, interrupt)) at->second = CodeBytes(module->elf());
  return at->second;
}

std::vector<std::string> Places::without_inlines() const {
  std::vector<std::string> sentences;
  for (const auto& [file, lines] : lines_)
    if (lines && !lines->without_inlines().empty())
      sentences.push_back(
          "inlined functions of " + space_.path(file) +
          " are not known, and their lines stand where those of the calls should: " +
          lines->without_inlines());
  return sentences;
}

std::vector<std::string> Places::without_code() const {
  std::vector<std::string> paths;
  for (const auto& [file, code] : code_)
    if (code.is_empty()) paths.push_back(space_.path(file));
  return paths;
}

const SlotTarget* Places::slot(const Location& slot, const Interrupt& interrupt) {
  const auto [at, is_new] = slots_.try_emplace(slot.file);
  if (is_new)
    if (const auto module = space_.open(slot.file, interrupt)) {
      NameRoom room(module->bytes_on_disk());
      at->second = slot_targets(module->elf(), room);
    }
  const auto found = at->second.find(slot.address);
  return found == at->second.end() ? nullptr : &found->second;
}

PlaceId Places::at(Grain grain, std::uint64_t pc, Epoch epoch, bool is_leaf,
                   const Interrupt& interrupt) {
  FlatMap<Known>& known = known_[epoch];
  const std::uint64_t key = pc << 1 | (is_leaf ? 1 : 0);  // no code lies in the upper half
  if (const Known* const found = known.find(key)) return found->ids[index(grain)];
  const Known found = find(pc, epoch, is_leaf, interrupt);
  *known.add(key).first = found;
  return found.ids[index(grain)];
}

Places::Known Places::find(std::uint64_t pc, Epoch epoch, bool is_leaf,
                           const Interrupt& interrupt) {
  const FunctionId function = space_.function_at(pc, epoch);
  const auto where = space_.locate(pc, epoch);
  if (!where)
    return {function,
            {of(Grain::line, function), of(Grain::source, function),
             of(Grain::instruction, function), of_object(function)}};
  const Unit at = unit_at(*where, interrupt);
  const SourcePlace source = at.unit ? at.unit->outermost(at.address) : SourcePlace{};
  const std::uint64_t address =
      is_leaf ? where->address : code(where->file, interrupt).call_around(where->address);
  const PlaceId instruction =
      add(Grain::instruction, {~0u, where->file, address}, {function, source, address});
  return {function,
          {add_line(Grain::line, function, source), add_line(Grain::source, function, source),
           instruction, of_object(function)}};
}

Places::Unit Places::unit_at(const Location& code, const Interrupt& interrupt) {
  ObjectLines* const lines = lines_of(code.file, interrupt);
  const UnitLines* const unit = lines ? lines->unit_at(code.address, interrupt) : nullptr;
  return {lines, unit, unit ? lines->in_dwarf(code.address) : 0};
}

const std::vector<Places::InlineFrame>& Places::inlined_at(std::uint64_t pc, Epoch epoch,
                                                           const Interrupt& interrupt) {
  const auto [known, is_new] = inlined_[epoch].try_emplace(pc);
  std::vector<InlineFrame>& chain = known->second;
  if (!is_new) return chain;
  const FunctionId outermost = space_.function_at(pc, epoch);
  const auto where = space_.locate(pc, epoch);
  const Unit at = where ? unit_at(*where, interrupt) : Unit{};
  chain.push_back({outermost, at.unit ? at.unit->innermost(at.address) : SourcePlace{}});
  if (!at.unit) return chain;
  // From the innermost call out; then the other way round.
  for (std::uint32_t number = at.unit->call_at(at.address); number != InlinedCall::kNone;) {
    const InlinedCall& call = at.unit->call(number);
    const InlinedFunction& callee = at.unit->function(call.callee);
    number = call.outer;
    if (callee.symbol.empty()) continue;
    const FunctionId function = space_.inlined_function(where->file, callee.symbol);
    declared_.try_emplace(function, callee.declared);
    const SourcePlace inside = chain.front().source;
    chain.front().source = call.at;
    chain.insert(chain.begin() + 1, {function, inside});
  }
  return chain;
}

std::vector<PlaceId> Places::chain_at(Grain grain, std::uint64_t pc, Epoch epoch, bool is_leaf,
                                      const Interrupt& interrupt) {
  std::vector<PlaceId> chain;
  const auto& frames = inlined_at(pc, epoch, interrupt);
  if (frames.size() == 1 || grain == Grain::instruction || grain == Grain::object)
    return {at(grain, pc, epoch, is_leaf, interrupt)};
  for (const InlineFrame& each : frames)
    chain.push_back(add_line(grain, each.function, each.source));
  return chain;
}

SourcePlace Places::begin_of(FunctionId id, const Interrupt& interrupt) {
  const Function& function = space_.function(id);
  const auto declared = declared_.find(id);
  if (function.object.empty()) return {};
  if (function.is_inlined) return declared == declared_.end() ? SourcePlace{} : declared->second;
  const Unit at = unit_at({function.file, function.address}, interrupt);
  if (!at.unit) return {};
  const SourcePlace first = at.unit->innermost(at.address);
  const DefinedLines defined = at.unit->defined_at(at.address);
  return defined.file == first.file && defined.begin < first.line
             ? SourcePlace{defined.file, defined.begin}
             : first;
}

std::string Places::unit_of(FunctionId id, const Interrupt& interrupt) {
  const Function& function = space_.function(id);
  if (function.object.empty() || function.is_inlined) return "";
  const Unit at = unit_at({function.file, function.address}, interrupt);
  return at.unit ? at.unit->name() : "";
}

SourcePlace Places::source(const Location& code, const Interrupt& interrupt) {
  const Unit at = unit_at(code, interrupt);
  return at.unit ? at.unit->outermost(at.address) : SourcePlace{};
}

std::vector<SourcePlace> Places::places_of(const Function& function, const Interrupt& interrupt) {
  if (function.object.empty() || function.is_inlined) return {};
  const Unit at = unit_at({function.file, function.address}, interrupt);
  if (!at.unit) return {};
  return at.unit->places_in(at.address, at.address + function.size, false);
}

DefinedLines Places::defined_lines(const Function& function, const Interrupt& interrupt) {
  if (function.object.empty() || function.is_inlined) return {};
  const Unit at = unit_at({function.file, function.address}, interrupt);
  return at.unit ? at.unit->defined_at(at.address) : DefinedLines{};
}

std::vector<std::uint32_t> Places::lines_with_code(SourceFileId file, bool with_inlined) const {
  std::set<std::uint32_t> found;
  for (const auto& [number, lines] : lines_)
    if (lines)
      lines->each_unit([&](const UnitLines& unit) {
        for (const SourcePlace& place : unit.places_in(0, ~0ull, with_inlined))
          if (place.file == file) found.insert(place.line);
      });
  return {found.begin(), found.end()};
}

void Places::objects_have_changed() {
  for (auto& [epoch, known] : known_)
    known.erase_if([&](const Known& at) { return space_.function(at.function).object.empty(); });
}

}  // namespace gnomon::reader
