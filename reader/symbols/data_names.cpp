// Names variables by address in the recorded process. Any thread, one at a time.
#include "reader/symbols/data_names.h"

#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>

#include "reader/symbols/display_name.h"
#include "reader/symbols/elf/elf_file.h"
#include "reader/symbols/elf/module.h"

namespace gnomon::reader {
namespace {

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_library(const std::string& name) { return name.find(".so") != name.npos; }

bool is_variable(const GElf_Sym& symbol, GElf_Word section) {
  return GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && section != SHN_UNDEF && symbol.st_size != 0;
}

}  // namespace

// A file that cannot be read has no variables.
const DataNames::Variables& DataNames::of_file(std::size_t file, const Interrupt& interrupt) {
  const auto [at, is_new] = files_.try_emplace(file);
  if (!is_new) return at->second;
  const auto module = space_.open(file, interrupt);
  if (!module) return at->second;
  const int count = dwfl_module_getsymtab(module->get());
  NameRoom room(module->bytes_on_disk());
  for (int i = 1; i < count && !interrupt.asked(static_cast<std::uint64_t>(i)); ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(module->get(), i, &symbol, &address, &section, nullptr, nullptr);
    if (!name || !*name || !is_variable(symbol, section)) continue;
    if (!room.take(name)) break;
    const std::uint64_t begin = address - module->bias();
    at->second.push_back({begin, begin + symbol.st_size, name});
  }
  std::sort(at->second.begin(), at->second.end(),
            [](const Variable& a, const Variable& b) { return a.begin < b.begin; });
  return at->second;
}

std::string DataNames::name_of(std::uint64_t address, Epoch epoch, const Interrupt& interrupt) {
  const auto place = space_.locate(address, epoch);
  if (!place) return "";
  const Variables& variables = of_file(place->file, interrupt);
  const std::string object = file_name_of(space_.path(place->file));
  const auto after =
      std::upper_bound(variables.begin(), variables.end(), place->address,
                       [](std::uint64_t at, const Variable& each) { return at < each.begin; });
  if (after == variables.begin() || place->address >= (after - 1)->end)
    return fmt::format("{:#x} in {}", place->address, object);
  const Variable& variable = *(after - 1);
  const std::string name = display_name(variable.symbol.c_str());
  const std::uint64_t offset = place->address - variable.begin;
  return fmt::format("{}{}{}", name, offset == 0 ? "" : fmt::format("+{}", offset),
                     is_library(object) ? fmt::format(" ({})", object) : "");
}

}  // namespace gnomon::reader
