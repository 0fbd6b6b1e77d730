// Finds functions by address in the recorded process. Any thread, one at a time.
#include "reader/symbols/address_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "reader/symbols/display_name.h"
#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

constexpr const char* kOutlined = ".cold";
constexpr std::uint64_t kNoObject = Location::kNoFile;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

const char* name_of(format::Activity activity) {
  switch (activity) {
    case format::Activity::system:
      return "<System>";
    case format::Activity::short_threads:
      return "<Short threads>";
    case format::Activity::unsampled:
      return "<Unsampled>";
    case format::Activity::waiting:
      return kWaiting;
    case format::Activity::final_counts:
      return "collector_final_counters";
    case format::Activity::frozen_counts:
      return "collector_hwcs_frozen";
    case format::Activity::lost:
      return "<Lost>";
    case format::Activity::watch:
      return "<Watch>";
  }
  return kUnknown;
}

}  // namespace

std::size_t AddressSpace::file_of(const LoadObject& object, std::size_t part) {
  for (auto [at, end] = files_by_path_.equal_range(object.path); at != end; ++at)
    if (files_[at->second].identity == object.file) return at->second;
  files_by_path_.emplace(object.path, files_.size());
  files_.push_back({object.path, object.file, part, std::nullopt});
  return files_.size() - 1;
}

// Addresses that were in no object may be in one now; the others keep their functions.
void AddressSpace::set_objects(std::size_t part, const Experiment& experiment, LiveFiles live) {
  if (part >= processes_.size()) processes_.resize(part + 1);
  Process& process = processes_[part];
  process.made.refresh(experiment, live.root());
  process.kernel.read_new(experiment);
  process.live = std::move(live);
  process.objects.clear();
  for (const LoadObject& object : experiment.objects)
    process.objects.push_back({object, file_of(object, part)});
  for (auto& [epoch, known] : by_pc_)
    if (epoch.part == part)
      known.erase_if([&](FunctionId id) { return functions_[index(id)].object.empty(); });
}

std::vector<std::string> AddressSpace::refusals() const {
  std::vector<std::string> all;
  for (const Process& process : processes_)
    if (process.has_unnamed && !process.made.refusal().empty())
      all.push_back(process.made.refusal());
  return all;
}

// The last one loaded there.
const AddressSpace::Object* AddressSpace::object_at(std::uint64_t pc, Epoch epoch) const {
  const std::size_t part = epoch.part;
  if (part >= processes_.size()) return nullptr;
  const std::vector<Object>& objects = processes_[part].objects;
  for (auto object = objects.rbegin(); object != objects.rend(); ++object)
    if (object->at.holds(pc, epoch.number)) return &*object;
  return nullptr;
}

FunctionId AddressSpace::add(std::uint64_t file, std::uint64_t place, Function function) {
  const auto [at, fresh] =
      known_.try_emplace({file, place}, FunctionId{static_cast<std::uint32_t>(functions_.size())});
  if (fresh) functions_.push_back(std::move(function));
  return at->second;
}

FunctionId AddressSpace::named(const std::string& name) {
  const auto [at, is_new] = named_.try_emplace(name);
  if (is_new) at->second = add(kNoObject, functions_.size(), {.name = name});
  return at->second;
}

FunctionId AddressSpace::function_at(std::uint64_t pc, Epoch epoch) {
  FlatMap<FunctionId>& known = by_pc_[epoch];
  if (const FunctionId* const function = known.find(pc)) return *function;
  return *known.add(pc).first = find(pc, epoch);
}

std::optional<Location> AddressSpace::locate(std::uint64_t pc, Epoch epoch) const {
  const Object* object = object_at(pc, epoch);
  return object ? std::optional<Location>({object->file, pc - object->at.bias}) : std::nullopt;
}

// open(source): a file that is where the source says. A container's file of the same path is
// another one, which the build id tells.
template <typename T, typename Open>
Result<T> AddressSpace::first_that_opens(const File& file, Open open) const {
  Result<T> failed = fault(file.path);
  const auto given = debug_files_.find(file.path);
  const std::string debug_file = given == debug_files_.end() ? "" : given->second;
  const LiveFiles& live = processes_[file.part].live;
  for (const std::string& place : live.candidate_paths(file.path)) {
    Result<T> opened = open(ObjectSource{place, file.path, live.root(), debug_file});
    if (opened) return opened;
    if (place == file.path) failed = std::move(opened);
  }
  return failed;
}

Result<SymbolIndex> AddressSpace::load(const File& file) const {
  if (file.path == "[vdso]") return SymbolIndex::load_vdso(file.identity.build_id);
  return first_that_opens<SymbolIndex>(file, [&](const ObjectSource& source) {
    return SymbolIndex::load(source, file.identity, interrupt_);
  });
}

Result<Module> AddressSpace::open(std::size_t file, const Interrupt& interrupt) const {
  if (files_[file].path.starts_with('['))
    return fault(files_[file].path + " has no debug information", "it is a part of the kernel");
  return first_that_opens<Module>(files_[file], [&](const ObjectSource& source) {
    return Module::open(source, files_[file].identity, interrupt);
  });
}

FunctionId AddressSpace::find(std::uint64_t pc, Epoch epoch) {
  if (format::is_activity(pc)) return named(name_of(static_cast<format::Activity>(pc)));
  const std::size_t part = epoch.part;
  if (format::is_kernel(pc)) return kernel_function(pc, part);
  const auto code = locate(pc, epoch);
  if (code) return function_in(*code);
  if (part >= processes_.size()) return named(kUnknown);
  Process& process = processes_[part];
  const std::string* const made = process.made.name(pc);
  process.has_unnamed |= made == nullptr;
  return named(made ? *made : kUnknown);
}

std::size_t AddressSpace::kernel_file(const KernelNames::Named& function, std::size_t part) {
  const std::string path = "[" + (function.module.empty() ? "kernel" : function.module) + "]";
  const auto [at, is_new] = kernel_files_.try_emplace(path, files_.size());
  if (is_new) files_.push_back({path, {}, part, SymbolIndex({})});
  return at->second;
}

// By name, because parts may have been recorded on other hosts or before a reboot, where the
// function lay elsewhere.
FunctionId AddressSpace::kernel_function(std::uint64_t pc, std::size_t part) {
  const KernelNames::Named* const found =
      part < processes_.size() ? processes_[part].kernel.find(pc) : nullptr;
  if (!found) return named("<Kernel>");
  const auto [at, is_new] = kernel_.try_emplace({found->name, found->module});
  if (!is_new) return at->second;
  const std::size_t file = kernel_file(*found, part);
  return at->second = add(file, found->begin,
                          {.name = found->name,
                           .object = files_[file].path,
                           .file = file,
                           .address = found->begin,
                           .size = found->end - found->begin,
                           .symbol = found->name});
}

std::optional<std::size_t> AddressSpace::file_at(std::uint64_t pc, Epoch epoch) {
  if (format::is_kernel(pc)) {
    const Function& kernel = function(function_at(pc, epoch));
    return kernel.object.empty() ? std::nullopt : std::optional(kernel.file);
  }
  const auto code = locate(pc, epoch);
  return code ? std::optional(code->file) : std::nullopt;
}

const SymbolIndex& AddressSpace::symbols_of(std::size_t number) {
  File& file = files_[number];
  if (!file.symbols) {
    auto loaded = load(file);
    if (!loaded) faults_.push_back(sentence(loaded.error()));
    file.is_unreadable = !loaded;
    if (loaded && loaded->was_touched()) doubtful_.push_back(file.path);
    if (loaded && loaded->is_stripped()) stripped_.insert(file.path);
    file.symbols = loaded ? std::move(*loaded) : SymbolIndex({});
  }
  return *file.symbols;
}

std::uint64_t AddressSpace::end_of(const Function& function) {
  return function.size != 0 ? function.address + function.size
                            : symbols_of(function.file).gap_end(function.address);
}

FunctionId AddressSpace::function_in(const Location& code) {
  const SymbolIndex& symbols = symbols_of(code.file);
  const File& file = files_[code.file];
  const SymbolIndex::Place place = symbols.find(code.address);
  if (place.in_symbol) {
    const Symbol& symbol = symbols.symbol(place.number);
    if (const auto at = known_.find({code.file, symbol.begin}); at != known_.end())
      return at->second;
    const Names names = symbols.is_ada() ? Names::of_ada : Names::of_others;
    Function function{display_name(symbol.name.c_str(), names),
                      file.path,
                      code.file,
                      symbol.begin,
                      symbol.end - symbol.begin,
                      symbol.name,
                      symbols.module(symbol)};
    function.is_part = symbol.name.find(kOutlined) != std::string::npos;
    for (const std::string& alias : symbol.aliases)
      function.aliases.push_back(display_name(alias.c_str(), names));
    return add(code.file, symbol.begin, std::move(function));
  }
  // Code between symbols: stripped static functions. The top bit keeps a gap apart from a symbol.
  return add(code.file, place.gap_begin | 1ull << 63,
             {.name = fmt::format("<static>@{:#x} ({})", place.gap_begin, base_name(file.path)),
              .object = file.path,
              .file = code.file,
              .address = place.gap_begin,
              .is_unnamed = true});
}

FunctionId AddressSpace::inlined_function(std::size_t file, const std::string& symbol) {
  const auto [at, is_new] = inlined_.try_emplace({file, symbol});
  if (!is_new) return at->second;
  const SymbolIndex& symbols = symbols_of(file);
  if (const Symbol* const own = symbols.named(symbol))
    return at->second = function_in({file, own->begin});
  const Names names = symbols.is_ada() ? Names::of_ada : Names::of_others;
  return at->second = add(kNoObject, functions_.size(),
                          {.name = display_name(symbol.c_str(), names),
                           .object = files_[file].path,
                           .file = file,
                           .symbol = symbol,
                           .is_inlined = true});
}

FunctionId AddressSpace::hidden(std::size_t file) {
  const auto [at, is_new] = hidden_.try_emplace(file);
  if (is_new)
    at->second = add(kNoObject, functions_.size(),
                     {.name = fmt::format("<{}>", base_name(files_[file].path)),
                      .object = files_[file].path,
                      .file = file,
                      .is_inlined = true});
  return at->second;
}

SymbolState AddressSpace::symbol_state(std::size_t file) {
  symbols_of(file);
  return files_[file].is_unreadable              ? SymbolState::none
         : stripped_.contains(files_[file].path) ? SymbolState::exported
                                                 : SymbolState::all;
}

std::optional<FunctionId> AddressSpace::origin(const Function& made, const std::string& symbol) {
  const Symbol* const found = symbols_of(made.file).named(symbol, made.module);
  return found ? std::optional(function_in({made.file, found->begin})) : std::nullopt;
}

std::optional<FunctionId> AddressSpace::whole_of(FunctionId part) {
  const Function& own = function(part);
  if (!own.is_part) return std::nullopt;
  return origin(own, own.symbol.substr(0, own.symbol.find(kOutlined)));
}

std::optional<FunctionId> AddressSpace::stem_of(FunctionId copy) {
  const Function& own = function(copy);
  const std::string_view stem = without_clone(own.symbol);
  if (own.symbol.empty() || stem.size() == own.symbol.size()) return std::nullopt;
  return origin(own, std::string(stem));
}

}  // namespace gnomon::reader
