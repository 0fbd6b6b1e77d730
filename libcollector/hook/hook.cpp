// Hooks: a row for each libc function that the collector replaces. Normal context.
#include "libcollector/hook/hook.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <iterator>

#include "libcollector/format/attach.h"
#include "libcollector/hook/dynamic_section.h"

extern "C" {
// The linker's names for the bounds of the section that GNOMON_HOOK fills.
extern const gnomon::collector::Hook __start_gnomon_hooks[]  // NOLINT
    __attribute__((visibility("hidden")));
extern const gnomon::collector::Hook __stop_gnomon_hooks[]  // NOLINT
    __attribute__((visibility("hidden")));
}

namespace gnomon::collector {

void* NextFunction::find() {
  if (found) return found;
  void* symbol = version ? dlvsym(RTLD_NEXT, name, version) : nullptr;
  if (!symbol) symbol = dlsym(RTLD_NEXT, name);
  return found = symbol;
}

namespace {

constinit char in_executable = 0;  // stands for an original that cannot be bound

bool is_wanted(const DynamicSection& section, std::size_t symbol, const NextFunction& wanted) {
  constexpr unsigned kHidden = 0x8000;  // not the default version
  const ElfW(Sym)& each = section.symbols[symbol];
  if (each.st_name >= section.strings.size()) return false;
  if (symbol < section.versions.size() && section.versions[symbol] & kHidden) return false;
  return std::strcmp(&section.strings[each.st_name], wanted.name) == 0;
}

// Objects come in the order in which the loader looks through them, the executable first.
int find_in_object(dl_phdr_info* info, std::size_t, void* data) {
  const Families families = *static_cast<const Families*>(data);
  const LoadObject object = load_object_of(*info);
  if (ByteRange{object.begin, object.end}.contains(reinterpret_cast<std::uint64_t>(&in_executable)))
    return 0;
  const bool is_executable = *info->dlpi_name == 0;
  const DynamicSection section = dynamic_section_of(object);
  for (std::size_t i = 0; i < section.symbols.size(); ++i) {
    const ElfW(Sym)& symbol = section.symbols[i];
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    for (const Hook& hook : all_hooks()) {
      if (!(bit_of(hook.family) & families) || hook.original->found) continue;
      if (!is_wanted(section, i, *hook.original)) continue;
      hook.original->found = is_executable ? static_cast<void*>(&in_executable)
                                           : reinterpret_cast<void*>(object.bias + symbol.st_value);
      hook.original->definer = object.begin;
    }
  }
  return 0;
}

}  // namespace

Hooks all_hooks() { return {__start_gnomon_hooks, __stop_gnomon_hooks}; }

extern "C" {
__attribute__((visibility("default")))
format::HookedFunction gnomon_hook_table[format::kHooks] = {};
}

// For whoever looks at this process from outside.
static void tell_originals() {
  format::HookedFunction* row = gnomon_hook_table;
  for (const Hook& hook : all_hooks()) {
    if (row == std::end(gnomon_hook_table)) continue;
    *row++ = {reinterpret_cast<std::uint64_t>(hook.replacement),
              reinterpret_cast<std::uint64_t>(hook.original->found)};
  }
}

void find_originals() {
  for (const Hook& hook : all_hooks())
    if (hook.family == Family::program) hook.original->find();
  tell_originals();
}

std::uint32_t find_traced_originals(Families families) {
  for (const Hook& hook : all_hooks())
    if (bit_of(hook.family) & families) hook.original->found = nullptr;
  dl_iterate_phdr(find_in_object, &families);
  for (const Hook& hook : all_hooks())
    if (bit_of(hook.family) & families && hook.companion &&
        hook.companion->definer != hook.original->definer)
      hook.original->found = nullptr;
  std::uint32_t own = 0;
  Families untraced = 0;  // what one function gives, another one must not take unseen
  for (const Hook& hook : all_hooks()) {
    if (hook.original->found != &in_executable) continue;
    untraced |= bit_of(hook.family);
    ++own;
  }
  for (const Hook& hook : all_hooks())
    if (bit_of(hook.family) & untraced) hook.original->found = nullptr;
  tell_originals();
  return own;
}

}  // namespace gnomon::collector
