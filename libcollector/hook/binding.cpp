// Binds a program that was linked before the collector came to the hooks: words of its load objects
// that hold the address of a hooked function get the replacement's address, and so does the symbol
// table of the object that defines the function, from which the loader takes what is bound, loaded
// or looked up later. Undoes the same. Normal context; other threads run.
#include "libcollector/hook/binding.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>

#include "libcollector/core/atomic.h"
#include "libcollector/core/byte_range.h"
#include "libcollector/core/mappings.h"
#include "libcollector/core/syscall.h"
#include "libcollector/hook/dynamic_section.h"
#include "libcollector/hook/hook.h"

namespace gnomon::collector {
namespace {

constexpr std::uint64_t kPage = 4096;

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

enum class Towards { us, originals };

struct Pass {
  Mappings mappings;
  Towards towards;
  HookGroups groups;
  ByteRange from;  // contains every address that this pass replaces
  Bound bound;
};

constinit Pass* under_way = nullptr;

std::uint64_t original(const Hook& hook) { return number(hook.original->found); }
std::uint64_t replacement(const Hook& hook) { return number(hook.replacement); }

bool is_of(const Hook& hook, const Pass& pass) {
  return (bit_of(hook.group) & pass.groups) != 0 && original(hook) != 0 && hook.replacement;
}

ByteRange range_of(std::uint64_t (*function)(const Hook&), const Pass& pass) {
  ByteRange range{~0ull, 0};
  for (const Hook& hook : all_hooks()) {
    if (!is_of(hook, pass)) continue;
    const std::uint64_t at = function(hook);
    range = {std::min(range.begin, at), std::max(range.end, at + 1)};
  }
  return range;
}

// Returns the replacement of an original or the original of a replacement, by the direction of the
// pass; 0 if `function` is neither.
std::uint64_t other_side(std::uint64_t function, const Pass& pass) {
  if (!pass.from.contains(function)) return 0;
  const bool to_us = pass.towards == Towards::us;
  for (const Hook& hook : all_hooks())
    if (is_of(hook, pass) && (to_us ? original(hook) : replacement(hook)) == function)
      return to_us ? replacement(hook) : original(hook);
  return 0;
}

std::uint32_t flags_at(const LoadObject& object, std::uint64_t at) {
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    const std::uint64_t begin = object.bias + header.p_vaddr;
    if (header.p_type == PT_LOAD && at >= begin && at < begin + header.p_memsz)
      return header.p_flags;
  }
  return 0;
}

// Makes a range inside one mapping writable for its own lifetime. Pages that were read-only (RELRO
// and others) are made read-only again: only the loader changes protections, and we hold its lock.
class Unlocked {
 public:
  Unlocked(const ByteRange& range, const LoadObject& object, const Pass& pass)
      : begin_(range.begin & ~(kPage - 1)),
        end_((range.end + kPage - 1) & ~(kPage - 1)),
        executable_(flags_at(object, range.begin) & PF_X ? PROT_EXEC : 0),
        locked_(!pass.mappings.find(range.begin).writable),
        open_(!locked_ || protect(PROT_READ | PROT_WRITE)) {}
  ~Unlocked() {
    if (locked_ && open_) protect(PROT_READ);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  bool replace(std::uint64_t at, std::uint64_t from, std::uint64_t to) const {
    return open_ && atomic(*reinterpret_cast<std::uint64_t*>(at)).compare_exchange_strong(from, to);
  }

 private:
  bool protect(int protection) const {
    return raw_syscall(SYS_mprotect, static_cast<long>(begin_), static_cast<long>(end_ - begin_),
                       protection | executable_) == 0;
  }

  std::uint64_t begin_, end_;
  int executable_;
  bool locked_, open_;
};

bool is_word_of(std::uint64_t at, const LoadObject& object, const Pass& pass) {
  return at % 8 == 0 && at >= object.begin && at < object.end &&
         pass.mappings.find(at).range.end != 0;
}

// psABI: JUMP_SLOT for calls by the PLT, GLOB_DAT for those without and for addresses, 64 for
// addresses in data.
bool holds_address(const ElfW(Rela) & relocation) {
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

void bind_word(std::uint64_t at, const LoadObject& object, Pass& pass) {
  if (!is_word_of(at, object, pass)) return;
  const std::uint64_t now = atomic(*reinterpret_cast<std::uint64_t*>(at)).load();
  const std::uint64_t other = other_side(now, pass);
  if (other == 0) return;
  const Unlocked word({at, at + 8}, object, pass);
  ++(word.replace(at, now, other) ? pass.bound.slots : pass.bound.refused);
}

// The executable's copy of a library's variable, which may be a table of functions.
std::uint64_t copied_bytes(const ElfW(Rela) & relocation, const DynamicSection& section) {
  const std::uint64_t symbol = ELF64_R_SYM(relocation.r_info);
  if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_COPY || symbol >= section.symbols.size())
    return 0;
  return section.symbols[symbol].st_size;
}

void bind_slots(std::span<const ElfW(Rela)> relocations, const DynamicSection& section,
                const LoadObject& object, Pass& pass) {
  for (const auto& relocation : relocations) {
    const std::uint64_t at = object.bias + relocation.r_offset;
    if (holds_address(relocation)) bind_word(at, object, pass);
    for (std::uint64_t i = 0; i + 8 <= copied_bytes(relocation, section); i += 8)
      bind_word(at + i, object, pass);
  }
}

// Returns the new st_value by which `symbol` leads to the other side of its hook, or 0 if it is not
// hooked. The loader adds the object's bias to st_value, so any address can be expressed.
std::uint64_t other_value(const ElfW(Sym) & symbol, const LoadObject& object, const Pass& pass) {
  if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) return 0;
  const std::uint64_t other = other_side(object.bias + symbol.st_value, pass);
  return other == 0 ? 0 : other - object.bias;
}

// Unprotects the whole table at once: pages changed one by one would stay separate mappings.
void bind_symbols(std::span<const ElfW(Sym)> symbols, const LoadObject& object, Pass& pass) {
  ByteRange changed{~0ull, 0};
  for (const auto& symbol : symbols)
    if (other_value(symbol, object, pass) != 0)
      changed = {std::min(changed.begin, number(&symbol)), number(&symbol + 1)};
  if (changed.end == 0) return;
  const Unlocked table(changed, object, pass);
  for (const auto& symbol : symbols) {
    const std::uint64_t value = other_value(symbol, object, pass);
    if (value == 0) continue;
    const bool done = table.replace(number(&symbol.st_value), symbol.st_value, value);
    ++(done ? pass.bound.symbols : pass.bound.refused);
  }
}

template <typename Bind>
void for_all_objects(Pass& pass, Bind bind) {
  struct Both {
    Pass& pass;
    Bind bind;
  } both{pass, bind};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& [to, visit] = *static_cast<Both*>(data);
        const LoadObject object = load_object_of(*info);
        const bool own = ByteRange{object.begin, object.end}.contains(number(&under_way));
        if (!own && object.begin < object.end) visit(object, to);
        return 0;
      },
      &both);
}

bool defines_original(const LoadObject& object, const Pass& pass) {
  for (const Hook& hook : all_hooks())
    if (is_of(hook, pass) && original(hook) >= object.begin && original(hook) < object.end)
      return true;
  return false;
}

// Symbols first: calls that other threads bind meanwhile then lead to the hooks.
void bind_all(Pass& pass) {
  pass.bound.refused = 0;
  for_all_objects(pass, [](const LoadObject& object, Pass& to) {
    if (defines_original(object, to)) bind_symbols(dynamic_section_of(object).symbols, object, to);
  });
  for_all_objects(pass, [](const LoadObject& object, Pass& to) {
    const DynamicSection section = dynamic_section_of(object);
    bind_slots(section.data, section, object, to);
    bind_slots(section.plt, section, object, to);
  });
}

}  // namespace

// The resolver of an indirect function (IFUNC): dlsym(3) calls it while it holds the loader's lock,
// under which nothing is loaded, relocated, protected or unloaded.
extern "C" {
[[gnu::used]] static void (*gnomon_resolve_binding())() {
  // The loader changes mappings and their protections, so they are read while it may not.
  if (Pass* pass = under_way; pass && pass->mappings.read()) bind_all(*pass);
  return [] {};
}
__attribute__((visibility("default"), ifunc("gnomon_resolve_binding"))) void gnomon_binding();
}

namespace {

Bound bind(Towards towards, HookGroups groups) {
  static Pass pass;
  pass.bound = {};
  pass.towards = towards;
  pass.groups = groups;
  for (const Hook& hook : all_hooks()) pass.bound.refused += is_of(hook, pass) ? 1 : 0;
  pass.from = range_of(towards == Towards::us ? original : replacement, pass);
  under_way = &pass;
  dlvsym(RTLD_DEFAULT, "gnomon_binding", "GNOMON_1");
  under_way = nullptr;
  pass.mappings.clear();
  return pass.bound;
}

}  // namespace

Bound bind_hooks(HookGroups groups) { return bind(Towards::us, groups); }
Bound unbind_hooks(HookGroups groups) { return bind(Towards::originals, groups); }

// In an executable that is not position-independent a function's address may be that of the
// executable's own PLT entry; its symbol is undefined there (psABI, "Function Addresses").
const char* bound_elsewhere(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  for (const Hook& hook : all_hooks())
    if (found == hook.replacement || found == hook.original->found) return nullptr;
  Dl_info info{};
  void* symbol = nullptr;
  if (!found || dladdr1(found, &info, &symbol, RTLD_DL_SYMENT) == 0) return "";
  if (symbol && static_cast<const ElfW(Sym)*>(symbol)->st_shndx == SHN_UNDEF) return nullptr;
  return info.dli_fname;
}

}  // namespace gnomon::collector
