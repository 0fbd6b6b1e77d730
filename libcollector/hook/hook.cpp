// Hooks: a row for each libc function that the collector replaces. Normal context.
#include "libcollector/hook/hook.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <iterator>

#include "libcollector/core/atomic.h"
#include "libcollector/core/fork_generation.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/format/attach.h"
#include "libcollector/hook/dynamic_section.h"

extern "C" {
// The linker's names for the bounds of the section that GNOMON_HOOK fills.
extern gnomon::collector::Hook __start_gnomon_hooks[]  // NOLINT
    __attribute__((visibility("hidden")));
extern gnomon::collector::Hook __stop_gnomon_hooks[]  // NOLINT
    __attribute__((visibility("hidden")));
}

namespace gnomon::collector {

void* NextFunction::find() {
  if (found) return found;
  void* symbol = version ? dlvsym(RTLD_NEXT, name, version) : nullptr;
  if (!symbol) symbol = dlsym(RTLD_NEXT, name);
  return found = symbol;
}

Hooks all_hooks() { return {__start_gnomon_hooks, __stop_gnomon_hooks}; }

namespace {

constinit char in_executable = 0;  // stands for an original that cannot be bound

// The hooks whose originals are looked for in the symbol tables of all load objects. A filter by
// the beginnings of names lets hardly any other name pass.
class Sought {
 public:
  explicit Sought(HookGroups groups) : groups_(groups) {
    for (const Hook& hook : all_hooks())
      if (is_sought(hook)) word_of_name(hook.original->name) |= mask_of_name(hook.original->name);
  }
  bool is_sought(const Hook& hook) const {
    return (bit_of(hook.group) & groups_) != 0 && !hook.original->sought;
  }
  // The names are at least as long.
  static constexpr std::size_t kBeginning = 4;
  bool may_be(const char* name) { return (word_of_name(name) & mask_of_name(name)) != 0; }

  unsigned long long loaded = 0;  // objects since the program began, by the loader

 private:
  static std::uint32_t number_of(const char* name) {
    std::uint32_t beginning = 0;
    std::memcpy(&beginning, name, kBeginning);
    return beginning * 0x9e3779b1u >> 22;
  }
  std::uint64_t& word_of_name(const char* name) { return beginnings_[number_of(name) / 64]; }
  static std::uint64_t mask_of_name(const char* name) { return 1ull << number_of(name) % 64; }

  HookGroups groups_;
  std::uint64_t beginnings_[16] = {};
};

bool is_wanted(const DynamicSection& section, std::size_t symbol, const NextFunction& wanted) {
  constexpr unsigned kHidden = 0x8000;  // not the default version
  const ElfW(Sym)& each = section.symbols[symbol];
  if (symbol < section.versions.size() && section.versions[symbol] & kHidden) return false;
  return std::strcmp(&section.strings[each.st_name], wanted.name) == 0;
}

// Returns the function to which a symbol leads without hooks. After a recording that could not give
// everything back, and in a fork child, symbols lead to the replacements still.
void* behind_hooks(std::uint64_t function) {
  for (const Hook& hook : all_hooks())
    if (hook.replacement && reinterpret_cast<std::uint64_t>(hook.replacement) == function)
      return hook.original->found;
  return reinterpret_cast<void*>(function);
}

// Objects come in the order in which the loader looks through them, the executable first.
int find_in_object(dl_phdr_info* info, std::size_t, void* data) {
  Sought& sought = *static_cast<Sought*>(data);
  sought.loaded = info->dlpi_adds;
  const LoadObject object = load_object_of(*info);
  if (ByteRange{object.begin, object.end}.contains(reinterpret_cast<std::uint64_t>(&in_executable)))
    return 0;
  const bool is_executable = *info->dlpi_name == 0;
  const DynamicSection section = dynamic_section_of(object);
  for (std::size_t i = 0; i < section.symbols.size(); ++i) {
    const ElfW(Sym)& symbol = section.symbols[i];
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    if (symbol.st_name + Sought::kBeginning > section.strings.size() ||
        !sought.may_be(&section.strings[symbol.st_name]))
      continue;
    for (const Hook& hook : all_hooks()) {
      if (!sought.is_sought(hook) || !is_wanted(section, i, *hook.original)) continue;
      hook.original->sought = is_executable ? static_cast<void*>(&in_executable)
                                            : behind_hooks(object.bias + symbol.st_value);
      hook.original->definer = object.begin;
    }
  }
  return 0;
}

}  // namespace

static_assert(offsetof(Hook, replacement) == offsetof(format::HookedFunction, replacement) &&
              offsetof(Hook, known_original) == offsetof(format::HookedFunction, original));

extern "C" {
__attribute__((visibility("default"))) constinit format::HookTable gnomon_hook_table = {};
}

// For whoever looks at this process from outside.
static void tell_originals() {
  for (Hook* hook = __start_gnomon_hooks; hook != __stop_gnomon_hooks; ++hook)
    atomic(hook->known_original).store(hook->original->found, std::memory_order_relaxed);
  gnomon_hook_table = {reinterpret_cast<std::uint64_t>(__start_gnomon_hooks),
                       reinterpret_cast<std::uint64_t>(__stop_gnomon_hooks), sizeof(Hook)};
}

void find_originals() {
  for (const Hook& hook : all_hooks())
    if (hook.group == HookGroup::program) hook.original->find();
  tell_originals();
}

namespace {

constinit Claim working;
constinit HookGroups looked_up = 0;            // by the last find_traced_originals()
constinit unsigned long long loaded_then = 0;  // objects since the program began, by the loader

}  // namespace

HookWork::HookWork(std::uint64_t patience) : has_it_(working.take()) {
  const std::uint64_t limit = patience == 0 ? 0 : now(CLOCK_MONOTONIC) + patience;
  while (!has_it_ && patience != 0 && now(CLOCK_MONOTONIC) < limit) {
    raw_syscall(SYS_sched_yield);
    has_it_ = working.take();
  }
}

HookWork::~HookWork() {
  if (has_it_) working.give_back();
}

namespace {

struct LookedUp {
  std::uint32_t own = 0;   // functions that the executable defines
  HookGroups changed = 0;  // with an original that had none, or another one
};

// Calls that go through a replacement meanwhile find the original that was published before.
LookedUp look_up(HookGroups groups) {
  const auto each_of = [](HookGroups wanted, auto&& what) {
    for (const Hook& hook : all_hooks())
      if (bit_of(hook.group) & wanted) what(hook);
  };
  each_of(groups, [](const Hook& hook) { hook.original->sought = nullptr; });
  Sought sought(groups);
  dl_iterate_phdr(find_in_object, &sought);
  atomic(loaded_then).store(sought.loaded, std::memory_order_relaxed);
  each_of(groups, [](const Hook& hook) {
    if (hook.companion && hook.companion->definer != hook.original->definer)
      hook.original->sought = nullptr;
  });
  LookedUp result;
  HookGroups untraced = 0;  // what one function gives, another one must not take unseen
  each_of(groups, [&](const Hook& hook) {
    if (hook.original->sought != &in_executable) return;
    untraced |= bit_of(hook.group);
    ++result.own;
  });
  each_of(untraced, [](const Hook& hook) { hook.original->sought = nullptr; });
  each_of(groups, [&](const Hook& hook) {
    void* const fresh = hook.original->sought;
    if (fresh && fresh != hook.original->found) result.changed |= bit_of(hook.group);
    atomic(hook.original->found).store(fresh, std::memory_order_release);
  });
  tell_originals();
  atomic(looked_up).store(groups, std::memory_order_relaxed);
  return result;
}

}  // namespace

std::uint32_t find_traced_originals(HookGroups groups) { return look_up(groups).own; }

HookGroups find_originals_that_came() { return look_up(looked_up).changed; }

bool has_library_come() {
  if (atomic(looked_up).load(std::memory_order_relaxed) == 0) return false;
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<unsigned long long*>(data) = info->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded != atomic(loaded_then).load(std::memory_order_relaxed);
}

}  // namespace gnomon::collector
