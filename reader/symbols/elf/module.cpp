// A load object's file with its debug file, as libdwfl has them. Any thread, one at a time.
#include "reader/symbols/elf/module.h"

#include <gelf.h>

#include "libcollector/format/layout.h"
#include "reader/symbols/elf/elf_file.h"

namespace gnomon::reader {
namespace {

const Dwfl_Callbacks kCallbacks{nullptr, find_debug_file, dwfl_offline_section_address, nullptr};

// format/layout.h.
std::uint64_t layout_of(Elf* elf) {
  std::size_t count = 0;
  GElf_Ehdr file;
  if (!gelf_getehdr(elf, &file) || elf_getphdrnum(elf, &count) != 0) return 0;
  const auto step = [&](std::uint64_t sum, std::uint64_t offset, std::uint64_t size) {
    Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(offset), size, ELF_T_BYTE);
    return data ? format::layout_step(sum, data->d_buf, data->d_size) : sum;
  };
  std::uint64_t sum = step(0, file.e_phoff, count * file.e_phentsize);
  for (std::size_t i = 0; i < count; ++i)
    if (GElf_Phdr header;
        gelf_getphdr(elf, static_cast<int>(i), &header) && header.p_type == PT_GNU_EH_FRAME)
      sum = step(sum, header.p_offset, header.p_filesz);
  return sum;
}

}  // namespace

Result<Module> Module::open(const ObjectSource& source, const FileIdentity& identity,
                            const Interrupt& interrupt) {
  const std::string& path = source.path;
  auto file = open_elf(path);
  if (!file) return tl::unexpected(file.error());
  Module opened;
  opened.bytes_ = file->bytes_on_disk();
  opened.dwfl_.reset(dwfl_begin(&kCallbacks));
  Dwfl* const dwfl = opened.dwfl_.get();
  if (!dwfl) return fault("elfutils cannot start", dwfl_errmsg(-1));
  opened.module_ = dwfl_report_offline(dwfl, path.c_str(), path.c_str(), file->descriptor());
  if (!opened.module_) return fault(path + ": " + dwfl_errmsg(-1));
  file->release();  // libdwfl's now
  dwfl_report_end(dwfl, nullptr, nullptr);
  opened.elf_ = dwfl_module_getelf(opened.module_, &opened.bias_);
  if (!opened.elf_) return fault(path + ": " + dwfl_errmsg(-1));
  const std::string build_id = build_id_of(opened.elf_);
  if ((!identity.build_id.empty() && build_id != identity.build_id) ||
      (identity.layout != 0 && layout_of(opened.elf_) != identity.layout))
    return fault(path + " has changed since it was recorded");
  if (auto fits = check_sections(opened.elf_, path); !fits) return tl::unexpected(fits.error());
  opened.search_.reset(new DebugSearch{source, build_id, interrupt});
  void** of_module = nullptr;
  dwfl_module_info(opened.module_, &of_module, nullptr, nullptr, nullptr, nullptr, nullptr,
                   nullptr);
  *of_module = opened.search_.get();
  return opened;
}

const char* Module::debug_file() const {
  const char* path = nullptr;
  dwfl_module_info(module_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &path);
  return path;
}

}  // namespace gnomon::reader
