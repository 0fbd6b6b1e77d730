// The file libcollector.so, before a process is to load it. Any thread.
#include "injector/library.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <cstring>
#include <memory>

#include "injector/attach/descriptor.h"
#include "libcollector/format/attach.h"

namespace gnomon::injector {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

bool defines(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, const char* function) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (!data || header.sh_entsize == 0) return false;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF) continue;
    const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name && std::strcmp(name, function) == 0) return true;
  }
  return false;
}

}  // namespace

// The section headers are the last of the file, so that it is whole if they are there.
bool is_collector(const std::string& path) {
  elf_version(EV_CURRENT);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::unique_ptr<Elf, ElfEnd> elf(elf_begin(file.get(), ELF_C_READ, nullptr));
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section;
       section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM &&
        defines(elf.get(), section, header, format::kAttachFunction))
      return true;
  }
  return false;
}

}  // namespace gnomon::injector
