// The stubs that calls of other objects go through: a stub jumps through a slot of the global
// offset table, the relocation of that slot has the name (System V ABI, AMD64, 5.2). Any thread,
// one at a time.
#include "reader/symbols/elf/plt.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

namespace gnomon::reader {
namespace {

constexpr std::size_t kEntry = 16, kShortEntry = 8;  // the short one in .plt.got
constexpr std::size_t kJump = 6;                     // jmp *displacement(%rip)

constexpr std::uint64_t kMostBytes = 64 << 20;  // of one section

using Slots = std::map<std::uint64_t, const char*>;

// take(relocation, name) for each relocation of a section; name null: it has none.
template <typename Take>
void each_relocation(Elf* elf, Elf_Scn* relocations, const GElf_Shdr& header, Take take) {
  Elf_Data* data = elf_getdata(relocations, nullptr);
  Elf_Scn* symbols = elf_getscn(elf, header.sh_link);
  GElf_Shdr of_symbols;
  if (!data || !symbols || !gelf_getshdr(symbols, &of_symbols) || header.sh_entsize == 0) return;
  Elf_Data* entries = elf_getdata(symbols, nullptr);
  if (!entries) return;
  const auto count = static_cast<int>(std::min(header.sh_size, kMostBytes) / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Rela relocation;
    GElf_Sym symbol;
    if (!gelf_getrela(data, i, &relocation)) return;
    const auto number = static_cast<int>(GELF_R_SYM(relocation.r_info));
    const char* name = number != 0 && gelf_getsym(entries, number, &symbol)
                           ? elf_strptr(elf, of_symbols.sh_link, symbol.st_name)
                           : nullptr;
    take(relocation, name && *name ? name : nullptr);
  }
}

// Likewise of all sections.
template <typename Take>
void each_relocation(Elf* elf, Take take) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && header.sh_link != 0)
      each_relocation(elf, section, header, take);
  }
}

bool fills_slot(const GElf_Rela& relocation) {
  const auto type = GELF_R_TYPE(relocation.r_info);
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

bool is_plt(const GElf_Shdr& header, const char* name) {
  return name && std::strncmp(name, ".plt", 4) == 0 && header.sh_type == SHT_PROGBITS &&
         (header.sh_flags & SHF_EXECINSTR);
}

Slots slots_of(Elf* elf) {
  Slots slots;
  each_relocation(elf, [&](const GElf_Rela& relocation, const char* name) {
    if (name && fills_slot(relocation)) slots[relocation.r_offset] = name;
  });
  return slots;
}

// The slot that the stub jumps through; 0: none.
std::uint64_t slot_of(const unsigned char* stub, std::size_t bytes, std::uint64_t address) {
  for (std::size_t at = 0; at + kJump <= bytes; ++at) {
    if (stub[at] != 0xff || stub[at + 1] != 0x25) continue;
    std::int32_t displacement = 0;
    std::memcpy(&displacement, stub + at + 2, sizeof displacement);
    return address + at + kJump + static_cast<std::uint64_t>(std::int64_t{displacement});
  }
  return 0;
}

// Of the stubs of one section: short where one begins with a jump and 8 bytes further there is
// another. Not the section's own word for it, which not every linker gives.
std::size_t entry_size(const unsigned char* code, std::size_t bytes) {
  const auto jumps_at = [&](std::size_t at) {
    return at + kJump <= bytes && code[at] == 0xff && code[at + 1] == 0x25;
  };
  const bool is_short = jumps_at(0) && (jumps_at(kShortEntry) || bytes == kShortEntry);
  return is_short ? kShortEntry : kEntry;
}

}  // namespace

std::vector<Symbol> plt_symbols(const unsigned char* code, std::size_t bytes, std::uint64_t address,
                                const std::map<std::uint64_t, const char*>& slots, NameRoom& room) {
  std::vector<Symbol> symbols;
  const std::size_t size = entry_size(code, bytes);
  for (std::size_t at = 0; at < bytes; at += size) {
    const std::size_t length = std::min(size, bytes - at);
    const auto slot = slots.find(slot_of(code + at, length, address + at));
    const char* name = slot == slots.end() ? "" : slot->second;
    const std::uint64_t begin = address + at;
    if (!symbols.empty() && symbols.back().name == name) {
      symbols.back().end = begin + length;
    } else {
      if (!room.take(name)) break;
      symbols.push_back({begin, begin + length, name});
    }
  }
  for (Symbol& symbol : symbols) symbol.name += "@plt";
  return symbols;
}

bool add_plt_symbols(Elf* elf, NameRoom& room, std::vector<Symbol>& all) {
  std::size_t names = 0;
  GElf_Ehdr file;
  if (elf_getshdrstrndx(elf, &names) != 0 || !gelf_getehdr(elf, &file)) return true;
  const Slots slots = file.e_machine == EM_X86_64 ? slots_of(elf) : Slots{};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || !is_plt(header, elf_strptr(elf, names, header.sh_name)))
      continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (!data || !data->d_buf || data->d_size > kMostBytes) continue;
    const auto symbols = plt_symbols(static_cast<const unsigned char*>(data->d_buf), data->d_size,
                                     header.sh_addr, slots, room);
    all.insert(all.end(), symbols.begin(), symbols.end());
  }
  return !room.is_full();
}

std::map<std::uint64_t, SlotTarget> slot_targets(Elf* elf, NameRoom& room) {
  std::map<std::uint64_t, SlotTarget> targets;
  GElf_Ehdr file;
  if (!gelf_getehdr(elf, &file) || file.e_machine != EM_X86_64) return targets;
  each_relocation(elf, [&](const GElf_Rela& relocation, const char* name) {
    if (GELF_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE)
      targets[relocation.r_offset].address = static_cast<std::uint64_t>(relocation.r_addend);
    else if (name && fills_slot(relocation) && room.take(name))
      targets[relocation.r_offset].name = name;
  });
  return targets;
}

}  // namespace gnomon::reader
