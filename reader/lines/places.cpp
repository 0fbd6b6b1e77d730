// Names places in the recorded code. Any thread, one at a time.
#include "reader/lines/places.h"

#include <set>

#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

constexpr std::uint64_t kWithoutLine = ~0ull;

}  // namespace

PlaceId Places::add(Grain grain, const Key& key, const Place& place) {
  OfGrain& own = grains_[index(grain)];
  const auto [at, is_new] =
      own.known.try_emplace(key, PlaceId{static_cast<std::uint32_t>(own.places.size())});
  if (is_new) own.places.push_back(place);
  return at->second;
}

PlaceId Places::of(Grain grain, FunctionId function) {
  return add(grain, {index(function), kWithoutLine, 0}, {function});
}

// The function that stands for all copies and parts that a compiler has made of it.
FunctionId Places::stem_of(FunctionId id) {
  if (index(id) >= stem_of_.size()) stem_of_.resize(space_.size());
  std::optional<FunctionId>& known = stem_of_[index(id)];
  if (known) return *known;
  const Function& function = space_.function(id);
  const std::string_view stem = without_clone(function.name);
  if (stem == function.name && function.object.empty()) return *(known = id);
  return *(known = stems_.try_emplace({function.object, std::string(stem)}, id).first->second);
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

PlaceId Places::at(Grain grain, std::uint64_t pc, std::uint32_t epoch, bool is_leaf,
                   const Interrupt& interrupt) {
  auto& known = known_[epoch];
  const std::uint64_t key = pc << 1 | (is_leaf ? 1 : 0);  // no code lies in the upper half
  auto found = known.find(key);
  if (found == known.end()) found = known.emplace(key, find(pc, epoch, is_leaf, interrupt)).first;
  return found->second.ids[index(grain)];
}

Places::Known Places::find(std::uint64_t pc, std::uint32_t epoch, bool is_leaf,
                           const Interrupt& interrupt) {
  const FunctionId function = space_.function_at(pc, epoch);
  const auto where = space_.locate(pc, epoch);
  if (!where)
    return {
        function,
        {of(Grain::line, function), of(Grain::source, function), of(Grain::instruction, function)}};
  ObjectLines* const lines = lines_of(where->file, interrupt);
  const UnitLines* const unit = lines ? lines->unit_at(where->address, interrupt) : nullptr;
  const SourcePlace source =
      unit ? unit->outermost(lines->in_dwarf(where->address)) : SourcePlace{};
  const std::uint64_t address =
      is_leaf ? where->address : code(where->file, interrupt).call_around(where->address);
  const FunctionId stem = stem_of(function);
  const PlaceId instruction =
      add(Grain::instruction, {~0u, where->file, address}, {function, source, address});
  if (!source.is_known())
    return {function, {of(Grain::line, stem), of(Grain::source, stem), instruction}};
  const Place place{stem, source};
  return {function,
          {add(Grain::line, {index(stem), index(source.file), source.line}, place),
           add(Grain::source, {~0u, index(source.file), source.line}, place), instruction}};
}

Places::Origin Places::origin(const Location& code, const Interrupt& interrupt) {
  ObjectLines* const lines = lines_of(code.file, interrupt);
  const UnitLines* const unit = lines ? lines->unit_at(code.address, interrupt) : nullptr;
  if (!unit) return {};
  return {unit->innermost(lines->in_dwarf(code.address)), unit->name()};
}

SourcePlace Places::source(const Location& code, const Interrupt& interrupt) {
  ObjectLines* const lines = lines_of(code.file, interrupt);
  const UnitLines* const unit = lines ? lines->unit_at(code.address, interrupt) : nullptr;
  return unit ? unit->outermost(lines->in_dwarf(code.address)) : SourcePlace{};
}

std::vector<SourcePlace> Places::places_of(const Function& function, const Interrupt& interrupt) {
  if (function.object.empty()) return {};
  ObjectLines* const lines = lines_of(function.file, interrupt);
  const UnitLines* const unit = lines ? lines->unit_at(function.address, interrupt) : nullptr;
  if (!unit) return {};
  const std::uint64_t begin = lines->in_dwarf(function.address);
  return unit->places_in(begin, begin + function.size);
}

std::vector<std::uint32_t> Places::lines_with_code(SourceFileId file) const {
  std::set<std::uint32_t> found;
  for (const auto& [number, lines] : lines_)
    if (lines)
      lines->each_unit([&](const UnitLines& unit) {
        for (const SourcePlace& place : unit.places_in(0, ~0ull))
          if (place.file == file) found.insert(place.line);
      });
  return {found.begin(), found.end()};
}

void Places::objects_have_changed() {
  for (auto& [epoch, known] : known_)
    std::erase_if(
        known, [&](const auto& at) { return space_.function(at.second.function).object.empty(); });
}

}  // namespace gnomon::reader
