// A load object's dynamic section: its relocations and its symbols. Valid while the object stays
// loaded; any context.
#include "libcollector/hook/dynamic_section.h"

#include <elf.h>

#include <algorithm>

namespace gnomon::collector {
namespace {

using Dyn = ElfW(Dyn);
using Word = std::uint32_t;

std::span<const Dyn> entries_of(const LoadObject& object) {
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    const std::uint64_t at = object.bias + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC && at >= object.begin && at + header.p_memsz <= object.end)
      return {reinterpret_cast<const Dyn*>(at), header.p_memsz / sizeof(Dyn)};
  }
  return {};
}

class Reader {
 public:
  explicit Reader(const LoadObject& object) : object_(object), entries_(entries_of(object)) {}

  std::uint64_t value(ElfW(Sxword) tag) const {
    for (const Dyn& entry : entries_) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == tag) return entry.d_un.d_val;
    }
    return 0;
  }
  // Returns the entry's address, or 0 if there is none. The loader makes most of them absolute if
  // it can write the section.
  std::uint64_t address(ElfW(Sxword) tag) const {
    const std::uint64_t at = value(tag);
    if (at == 0) return 0;
    return at >= object_.begin && at < object_.end ? at : object_.bias + at;
  }
  template <typename T>
  std::span<const T> table(std::uint64_t at, std::uint64_t count) const {
    if (at < object_.begin || at >= object_.end || at % alignof(T) != 0) return {};
    return {reinterpret_cast<const T*>(at), std::min(count, (object_.end - at) / sizeof(T))};
  }

 private:
  const LoadObject& object_;
  std::span<const Dyn> entries_;
};

// The chains of DT_GNU_HASH end with the last symbol; those before the first chain are undefined.
std::uint64_t symbols_by_gnu_hash(const Reader& reader) {
  const std::uint64_t at = reader.address(DT_GNU_HASH);
  const auto header = reader.table<Word>(at, 4);
  if (header.size() < 4) return 0;
  const Word first = header[1];
  const std::uint64_t buckets_at = at + 16 + header[2] * sizeof(std::uint64_t);
  const auto buckets = reader.table<Word>(buckets_at, header[0]);
  const auto chains = reader.table<Word>(buckets_at + header[0] * sizeof(Word), ~0ull);
  Word last = 0;
  for (const Word bucket : buckets) last = std::max(last, bucket);
  if (last < first) return first;
  for (std::uint64_t i = last - first; i < chains.size(); ++i)
    if (chains[i] & 1) return first + i + 1;
  return 0;
}

std::uint64_t symbol_count(const Reader& reader) {
  const auto counts = reader.table<Word>(reader.address(DT_HASH), 2);
  return counts.size() == 2 ? counts[1] : symbols_by_gnu_hash(reader);
}

}  // namespace

DynamicSection dynamic_section_of(const LoadObject& object) {
  using Rela = ElfW(Rela);
  const Reader reader(object);
  DynamicSection found;
  found.data = reader.table<Rela>(reader.address(DT_RELA), reader.value(DT_RELASZ) / sizeof(Rela));
  found.data = found.data.subspan(std::min(found.data.size(), reader.value(DT_RELACOUNT)));
  if (reader.value(DT_PLTREL) == DT_RELA)
    found.plt =
        reader.table<Rela>(reader.address(DT_JMPREL), reader.value(DT_PLTRELSZ) / sizeof(Rela));
  found.symbols = reader.table<ElfW(Sym)>(reader.address(DT_SYMTAB), symbol_count(reader));
  found.strings = reader.table<char>(reader.address(DT_STRTAB), reader.value(DT_STRSZ));
  found.versions = reader.table<ElfW(Half)>(reader.address(DT_VERSYM), found.symbols.size());
  return found;
}

}  // namespace gnomon::collector
