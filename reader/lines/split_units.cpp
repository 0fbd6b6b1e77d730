// Finds the debug information that split DWARF keeps outside of a load object's files. Any thread,
// one at a time.
//
// libdw finds the part outside by the path that the skeleton names, and of version 0.188 neither in
// a package nor in an object file. So each unit gets two ELF files in memory: one with the part
// outside, and one with a skeleton that names the first. libdw joins these as usual.
#include "reader/lines/split_units.h"

#include <dwarf.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "reader/symbols/elf/elf_file.h"

namespace gnomon::reader {

namespace {

struct Skeleton {
  std::uint16_t version = 0, machine = 0;
  std::uint64_t id = 0, low_pc = 0;
  std::string name, directory;           // of the part outside; the compiler's
  std::string addresses, ranges, lists;  // what the part outside leads to in other sections

  bool is_new() const { return version >= 5; }
};

using DwarfHandle = std::unique_ptr<Dwarf, decltype([](Dwarf* dwarf) { dwarf_end(dwarf); })>;

// Numbers as DWARF files have them, one behind the other.
class Bytes {
 public:
  template <typename T>
  Bytes& put(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& put_short(std::uint32_t value) {  // LEB128
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(0x80 | (value & 0x7f));
    text_ += static_cast<char>(value);
    return *this;
  }
  Bytes& put_text(const std::string& text) {
    text_ += text;
    text_ += '\0';
    return *this;
  }
  // With its length in front.
  std::string unit() const {
    return Bytes().put(static_cast<std::uint32_t>(text_.size())).text_ + text_;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string text_of(Dwarf_Die* die, unsigned name, unsigned old_name) {
  Dwarf_Attribute attribute;
  const char* const text =
      dwarf_attr(die, name, &attribute) || dwarf_attr(die, old_name, &attribute)
          ? dwarf_formstring(&attribute)
          : nullptr;
  return text ? text : "";
}

std::uint64_t number_of(Dwarf_Die* die, unsigned name, std::uint64_t otherwise) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0 ? value
                                                                                       : otherwise;
}

// What a section has from `begin` on. libdw has expanded it if it was compressed.
std::string section_from(Elf* elf, std::string_view name, std::uint64_t begin) {
  constexpr std::uint64_t kMost = 16 << 20;
  GElf_Shdr header;
  Elf_Scn* const section = section_named(elf, name, header);
  const Elf_Data* const data =
      section && header.sh_type != SHT_NOBITS ? elf_getdata(section, nullptr) : nullptr;
  if (!data || !data->d_buf || begin >= data->d_size) return {};
  return {static_cast<const char*>(data->d_buf) + begin,
          std::min<std::uint64_t>(data->d_size - begin, kMost)};
}

constexpr std::uint32_t kAddressHeader = 8;  // length, version, sizes: DWARF 5, 7.27

// The addresses of one unit. Those of version 5 have a header in front, which says how many.
std::string addresses_of(Elf* elf, std::uint64_t base, bool is_new) {
  if (!is_new) return section_from(elf, ".debug_addr", base);
  if (base < kAddressHeader) return {};
  std::string addresses = section_from(elf, ".debug_addr", base - kAddressHeader);
  std::uint32_t length = 0;
  if (addresses.size() >= sizeof length) std::memcpy(&length, addresses.data(), sizeof length);
  if (length < addresses.size()) addresses.resize(length + sizeof length);
  return addresses;
}

constexpr std::uint32_t kWide = 8;  // bytes of an address

std::string abbreviations_of(const Skeleton& skeleton) {
  Bytes bytes;
  const auto has = [&](std::uint32_t name, std::uint32_t form) {
    bytes.put_short(name).put_short(form);
  };
  bytes.put_short(1).put_short(skeleton.is_new() ? DW_TAG_skeleton_unit : DW_TAG_compile_unit);
  bytes.put_short(DW_CHILDREN_no);
  has(DW_AT_low_pc, DW_FORM_addr);
  has(DW_AT_comp_dir, DW_FORM_string);
  has(skeleton.is_new() ? DW_AT_dwo_name : DW_AT_GNU_dwo_name, DW_FORM_string);
  has(skeleton.is_new() ? DW_AT_addr_base : DW_AT_GNU_addr_base, DW_FORM_sec_offset);
  if (!skeleton.is_new()) {
    has(DW_AT_GNU_ranges_base, DW_FORM_sec_offset);
    has(DW_AT_GNU_dwo_id, DW_FORM_data8);
  }
  has(0, 0);
  return bytes.put_short(0).text();
}

// path: of the file with the part outside.
std::string unit_of(const Skeleton& skeleton, const std::string& path) {
  constexpr std::uint32_t kAbbreviations = 0;  // offset
  Bytes bytes;
  bytes.put(skeleton.version);
  if (skeleton.is_new())
    bytes.put(std::uint8_t{DW_UT_skeleton})
        .put(std::uint8_t{kWide})
        .put(kAbbreviations)
        .put(skeleton.id);
  else
    bytes.put(kAbbreviations).put(std::uint8_t{kWide});
  bytes.put_short(1).put(skeleton.low_pc).put_text(skeleton.directory).put_text(path);
  bytes.put(skeleton.is_new() ? kAddressHeader : 0u);
  if (!skeleton.is_new()) bytes.put(0u).put(skeleton.id);
  return bytes.unit();
}

// Fault: it cannot be told what it stands for.
Result<Skeleton> skeleton_of(Dwarf_Die unit) {
  Skeleton found;
  Dwarf_Half version = 0;
  std::uint8_t kind = 0, wide = 0, of_offsets = 0;
  GElf_Ehdr header;
  Elf* const elf = dwarf_getelf(dwarf_cu_getdwarf(unit.cu));
  if (dwarf_cu_info(unit.cu, &version, &kind, nullptr, nullptr, &found.id, &wide, &of_offsets) !=
          0 ||
      !gelf_getehdr(elf, &header))
    return fault(dwarf_errmsg(-1));
  if (wide != kWide || of_offsets != sizeof(std::uint32_t) ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return fault("it is of another kind of machine, or of 64-bit DWARF");
  found.version = version;
  found.machine = header.e_machine;
  found.name = text_of(&unit, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
  found.directory = text_of(&unit, DW_AT_comp_dir, DW_AT_comp_dir);
  Dwarf_Addr low_pc = 0;
  if (dwarf_lowpc(&unit, &low_pc) == 0) found.low_pc = low_pc;
  const unsigned base = found.is_new() ? DW_AT_addr_base : DW_AT_GNU_addr_base;
  found.addresses = addresses_of(elf, number_of(&unit, base, 0), found.is_new());
  if (found.is_new())
    found.lists = section_from(elf, ".debug_rnglists", 0);
  else
    found.ranges = section_from(elf, ".debug_ranges", number_of(&unit, DW_AT_GNU_ranges_base, 0));
  return found;
}

// Where the part outside may be, as libdw and debuggers look for it.
std::vector<std::string> paths_of(const Skeleton& skeleton, const std::vector<std::string>& files) {
  if (skeleton.name.starts_with('/')) return {skeleton.name};
  std::vector<std::string> paths = {skeleton.directory + "/" + skeleton.name};
  for (const std::string& file : files)
    paths.push_back(file.substr(0, file.rfind('/') + 1) + skeleton.name);
  return paths;
}

}  // namespace

Result<std::vector<MemorySection>> SplitUnits::find(std::uint64_t unit,
                                                    const std::vector<std::string>& paths) {
  if (!has_searched_)
    for (const std::string& file : files_)
      if (auto package = SplitFile::open(file + ".dwp")) packages_.push_back(std::move(*package));
  has_searched_ = true;
  for (SplitFile& package : packages_)
    if (auto sections = package.sections_of(unit)) return sections;
  Fault first;
  for (const std::string& path : paths) {
    auto file = SplitFile::open(path);
    if (file) return file->sections_of(unit);
    if (first.what.empty()) first = file.error();
  }
  if (first.next.empty())
    first.next = "keep such files, or pack them: `llvm-dwp -e PROGRAM -o PROGRAM.dwp`";
  return tl::unexpected(first);
}

Result<void> SplitUnits::read(Dwarf_Die unit, const std::function<void(Dwarf_Die)>& take) {
  const auto skeleton = skeleton_of(unit);
  if (!skeleton) return tl::unexpected(skeleton.error());
  const auto paths = paths_of(*skeleton, files_);
  const auto sections = find(skeleton->id, paths);
  if (!sections) return tl::unexpected(sections.error());
  const MemoryElf outside(skeleton->machine, *sections);
  const MemoryElf inside(skeleton->machine, {{".debug_info", unit_of(*skeleton, outside.path())},
                                             {".debug_abbrev", abbreviations_of(*skeleton)},
                                             {".debug_addr", skeleton->addresses},
                                             {".debug_ranges", skeleton->ranges},
                                             {".debug_rnglists", skeleton->lists}});
  if (outside.descriptor() < 0 || inside.descriptor() < 0)
    return fault("there is no memory for a copy of it");
  const DwarfHandle dwarf(dwarf_begin(inside.descriptor(), DWARF_C_READ));
  Dwarf_CU* copy = nullptr;
  Dwarf_Die die, split;
  std::uint8_t kind = 0;
  if (!dwarf || dwarf_get_units(dwarf.get(), nullptr, &copy, nullptr, &kind, &die, &split) != 0)
    return fault(dwarf_errmsg(-1));
  if (!split.addr) return fault(paths.front() + " is of another build, or damaged");
  take(split);
  return {};
}

}  // namespace gnomon::reader
