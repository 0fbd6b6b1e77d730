// Addresses of the profiled process to functions. Loads symbols of an object when it is first met.
#include "reader/symbols/address_space.h"

#include <fmt/format.h>

#include <algorithm>

namespace gnomon::reader {
namespace {

constexpr std::uint64_t kNoObject = ~0ull;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

AddressSpace::AddressSpace(const std::vector<LoadObject>& objects) {
  for (const LoadObject& object : objects) objects_.push_back({object, std::nullopt});
}

// The last one loaded there.
AddressSpace::Object* AddressSpace::object_at(std::uint64_t pc) {
  for (auto object = objects_.rbegin(); object != objects_.rend(); ++object)
    if (pc >= object->at.begin && pc < object->at.end) return &*object;
  return nullptr;
}

FunctionId AddressSpace::add(std::uint64_t object, std::uint64_t place, Function function) {
  const auto [at, fresh] = known_.try_emplace(
      {object, place}, FunctionId{static_cast<std::uint32_t>(functions_.size())});
  if (fresh) functions_.push_back(std::move(function));
  return at->second;
}

FunctionId AddressSpace::named(const std::string& name) {
  const auto same = std::find_if(functions_.begin(), functions_.end(), [&](const Function& f) {
    return f.object.empty() && f.name == name;
  });
  if (same != functions_.end())
    return FunctionId{static_cast<std::uint32_t>(same - functions_.begin())};
  return add(kNoObject, functions_.size(), {name, ""});
}

FunctionId AddressSpace::function_at(std::uint64_t pc) {
  const auto known = by_pc_.find(pc);
  if (known != by_pc_.end()) return known->second;
  return by_pc_[pc] = find(pc);
}

FunctionId AddressSpace::find(std::uint64_t pc) {
  Object* object = object_at(pc);
  if (!object) return named("<Unknown>");
  const auto number = static_cast<std::uint64_t>(object - objects_.data());
  if (object->at.path == "[vdso]") return add(number, 0, {"[vdso]", object->at.path});
  if (!object->symbols) {
    auto loaded = SymbolIndex::load(object->at.path, object->at.build_id);
    if (!loaded) faults_.push_back(sentence(loaded.error()));
    object->symbols = loaded ? std::move(*loaded) : SymbolIndex({});
  }
  const SymbolIndex& symbols = *object->symbols;
  const SymbolIndex::Place place = symbols.find(pc - object->at.bias);
  if (place.in_symbol) {
    const Symbol& symbol = symbols.symbol(place.number);
    return add(number, symbol.begin, {symbol.name, object->at.path});
  }
  // Code between symbols: stripped static functions. The top bit keeps a gap apart from a symbol.
  return add(number, place.gap_begin | 1ull << 63,
             {fmt::format("<static>@{:#x} ({})", place.gap_begin, base_name(object->at.path)),
              object->at.path});
}

}  // namespace gnomon::reader
