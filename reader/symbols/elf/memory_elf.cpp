// An ELF file in memory, for libdw to read. Any thread.
#include "reader/symbols/elf/memory_elf.h"

#include <gelf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reader/symbols/elf/elf_file.h"

namespace gnomon::reader {
namespace {

// The names of sections, one behind the other, as the section of names has them.
struct Names {
  std::string text = std::string(1, '\0');

  std::uint32_t add(const std::string& name) {
    const auto at = static_cast<std::uint32_t>(text.size());
    text += name;
    text += '\0';
    return at;
  }
};

bool add(Elf* elf, std::uint32_t name, std::uint32_t type, const std::string& bytes) {
  Elf_Scn* const section = elf_newscn(elf);
  Elf_Data* const data = section ? elf_newdata(section) : nullptr;
  GElf_Shdr header;
  if (!data || !gelf_getshdr(section, &header)) return false;
  data->d_buf = const_cast<char*>(bytes.data());  // libelf only reads it
  data->d_size = bytes.size();
  data->d_type = ELF_T_BYTE;
  data->d_align = 1;
  header.sh_name = name;
  header.sh_type = type;
  return gelf_update_shdr(section, &header) != 0;
}

bool write(int descriptor, std::uint16_t machine, const std::vector<MemorySection>& sections) {
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_begin(descriptor, ELF_C_WRITE, nullptr));
  GElf_Ehdr header;
  if (!elf || !gelf_newehdr(elf.get(), ELFCLASS64) || !gelf_getehdr(elf.get(), &header))
    return false;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = machine;
  header.e_type = ET_REL;
  header.e_version = EV_CURRENT;
  header.e_shstrndx = static_cast<std::uint16_t>(sections.size() + 1);
  if (gelf_update_ehdr(elf.get(), &header) == 0) return false;
  Names names;
  for (const MemorySection& section : sections)
    if (!add(elf.get(), names.add(section.name), SHT_PROGBITS, section.bytes)) return false;
  const std::uint32_t own = names.add(".shstrtab");
  return add(elf.get(), own, SHT_STRTAB, names.text) && elf_update(elf.get(), ELF_C_WRITE) > 0;
}

}  // namespace

MemoryElf::MemoryElf(std::uint16_t machine, const std::vector<MemorySection>& sections) {
  descriptor_ = memfd_create("gnomon-dwarf", MFD_CLOEXEC);
  if (descriptor_ < 0 || write(descriptor_, machine, sections)) return;
  close(descriptor_);
  descriptor_ = -1;
}

MemoryElf::~MemoryElf() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace gnomon::reader
