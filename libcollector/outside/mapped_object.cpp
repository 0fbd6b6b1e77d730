// The file of a load object of another process, mapped as the loader has mapped it there. In
// gnomon-sampler.
#include "libcollector/outside/mapped_object.h"

#include <elf.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "libcollector/objects/object_file.h"

namespace gnomon::outside {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMostBytes = 1ull << 36;  // of an object in memory

std::uint64_t page_of(std::uint64_t address) { return address & ~(kPage - 1); }
std::uint64_t page_end(std::uint64_t address) { return page_of(address + kPage - 1); }

template <typename T>
bool read_at(int file, std::uint64_t offset, T* to, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  return pread(file, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// The control page is written to as well.
void on_bus_error(int, siginfo_t* info, void*) {
  void* page = reinterpret_cast<void*>(page_of(reinterpret_cast<std::uint64_t>(info->si_addr)));
  if (info->si_code == BUS_ADRERR &&
      mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
          MAP_FAILED)
    return;
  signal(SIGBUS, SIG_DFL);
}

}  // namespace

void survive_cut_files() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

std::unique_ptr<MappedObject> MappedObject::open(int file, const std::string& path) {
  constexpr std::size_t kMostHeaders = 256;
  ElfW(Ehdr) elf;
  if (!read_at(file, 0, &elf, 1) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
      elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_machine != EM_X86_64 ||
      elf.e_phentsize != sizeof(ElfW(Phdr)) || elf.e_phnum > kMostHeaders)
    return nullptr;
  std::unique_ptr<MappedObject> object(new MappedObject);
  object->path_ = path;
  object->headers_.resize(elf.e_phnum);
  if (!read_at(file, elf.e_phoff, object->headers_.data(), elf.e_phnum) || !object->map(file))
    return nullptr;
  object->describe();
  if (frame_header_of(object->here_) == 0)
    object->here_.frames = collector::find_frame_section(
        ("/proc/self/fd/" + std::to_string(file)).c_str(), object->here_);
  return object;
}

// Reserves the range of the whole object first, so that one distance holds for all of it.
bool MappedObject::map(int file) {
  std::uint64_t begin = ~0ull, end = 0;
  for (const auto& header : headers_)
    if (header.p_type == PT_LOAD && header.p_memsz < kMostBytes) {
      begin = std::min(begin, page_of(header.p_vaddr));
      end = std::max(end, page_end(header.p_vaddr + header.p_memsz));
    }
  if (begin >= end || end - begin > kMostBytes) return false;
  void* memory =
      mmap(nullptr, end - begin, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = memory;
  bytes_ = end - begin;
  here_.bias = reinterpret_cast<std::uint64_t>(memory) - begin;
  for (const auto& header : headers_) {
    if (header.p_type != PT_LOAD || header.p_filesz == 0 || header.p_memsz >= kMostBytes) continue;
    const std::uint64_t place = header.p_vaddr % kPage;
    if (header.p_offset % kPage != place || header.p_filesz > header.p_memsz ||
        mmap(reinterpret_cast<void*>(here_.bias + header.p_vaddr - place), place + header.p_filesz,
             PROT_READ, MAP_PRIVATE | MAP_FIXED, file,
             static_cast<off_t>(header.p_offset - place)) == MAP_FAILED)
      return false;
  }
  return true;
}

void MappedObject::describe() {
  dl_phdr_info info{};
  info.dlpi_addr = here_.bias;
  info.dlpi_name = path_.c_str();
  info.dlpi_phdr = headers_.data();
  info.dlpi_phnum = static_cast<ElfW(Half)>(headers_.size());
  here_ = collector::load_object_of(info);
}

std::unique_ptr<MappedObject> MappedObject::vdso() {
  const std::uint64_t begin = getauxval(AT_SYSINFO_EHDR);
  if (begin == 0) return nullptr;
  const auto* elf = reinterpret_cast<const ElfW(Ehdr)*>(begin);
  const auto* first = reinterpret_cast<const ElfW(Phdr)*>(begin + elf->e_phoff);
  std::unique_ptr<MappedObject> object(new MappedObject);
  object->path_ = "[vdso]";
  object->headers_.assign(first, first + elf->e_phnum);
  object->here_.bias = begin;
  for (const auto& header : object->headers_)
    if (header.p_type == PT_LOAD) object->here_.bias = begin - page_of(header.p_vaddr);
  object->describe();
  return object;
}

MappedObject::~MappedObject() {
  if (memory_) munmap(memory_, bytes_);
}

std::optional<std::uint64_t> MappedObject::bias_of(std::uint64_t begin,
                                                   std::uint64_t offset) const {
  for (const auto& header : headers_)
    if (header.p_type == PT_LOAD && header.p_flags & PF_X && offset >= page_of(header.p_offset) &&
        offset < header.p_offset + header.p_filesz)
      return begin - (page_of(header.p_vaddr) + offset - page_of(header.p_offset));
  return std::nullopt;
}

std::optional<std::uint64_t> MappedObject::bias_around(std::uint64_t begin, std::uint64_t offset,
                                                       const collector::ByteRange& code) const {
  for (const auto& part : headers_) {
    if (part.p_type != PT_LOAD || offset < page_of(part.p_offset) ||
        offset >= part.p_offset + part.p_filesz)
      continue;
    const std::uint64_t bias = begin - (page_of(part.p_vaddr) + offset - page_of(part.p_offset));
    for (const auto& header : headers_)
      if (header.p_type == PT_LOAD && header.p_flags & PF_X &&
          code.begin >= bias + page_of(header.p_vaddr) &&
          code.end <= bias + page_end(header.p_vaddr + header.p_memsz))
        return bias;
  }
  return std::nullopt;
}

}  // namespace gnomon::outside
