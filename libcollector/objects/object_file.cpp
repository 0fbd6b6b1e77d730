// What only a load object's file tells, because it is not mapped where it is expected. Raw system
// calls, no heap.
#include "libcollector/objects/object_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <cstring>

#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

class ReadFile {
 public:
  explicit ReadFile(const char* path)
      : file_(raw_syscall(SYS_openat, AT_FDCWD, arg(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~ReadFile() {
    if (file_ >= 0) raw_syscall(SYS_close, file_);
  }
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  bool read(std::uint64_t offset, void* to, std::size_t size) const {
    return file_ >= 0 && raw_syscall(SYS_pread64, file_, arg(to), static_cast<long>(size),
                                     static_cast<long>(offset)) == static_cast<long>(size);
  }

 private:
  const long file_;
};

// Frame sections are looked for in an object that is loaded, so its addresses are bias + sh_addr.
bool is_frame_section(const ReadFile& file, const ElfW(Shdr) & names, const ElfW(Shdr) & section) {
  static constexpr char kName[] = ".eh_frame";
  char name[sizeof kName];
  return section.sh_addr != 0 &&
         (section.sh_type == SHT_PROGBITS || section.sh_type == SHT_X86_64_UNWIND) &&
         file.read(names.sh_offset + section.sh_name, name, sizeof name) &&
         std::memcmp(name, kName, sizeof name) == 0;
}

bool is_mapped(const LoadObject& object, const ByteRange& range) {
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    const std::uint64_t begin = object.bias + header.p_vaddr;
    if (header.p_type == PT_LOAD && header.p_flags & PF_R && range.begin >= begin &&
        range.end <= begin + header.p_filesz)
      return true;
  }
  return false;
}

std::size_t read_headers(const char* path, const ElfW(Ehdr) & elf, HeaderRoom& room) {
  ElfW(Ehdr) there;
  const ReadFile file(path);
  if (elf.e_phnum > HeaderRoom::kMax || elf.e_phentsize != sizeof(ElfW(Phdr)) ||
      !file.read(0, &there, sizeof there) || std::memcmp(&there, &elf, sizeof there) != 0 ||
      !file.read(elf.e_phoff, room.headers, elf.e_phnum * sizeof(ElfW(Phdr))))
    return 0;
  return elf.e_phnum;
}

ByteRange find_section(const char* path, const LoadObject& object) {
  constexpr std::uint32_t kMaxSections = 1000;
  ElfW(Ehdr) elf;
  ElfW(Shdr) names, section;
  const ReadFile file(path);
  const auto read_section = [&](std::uint32_t i, ElfW(Shdr) & to) {
    return file.read(elf.e_shoff + i * sizeof to, &to, sizeof to);
  };
  if (!file.read(0, &elf, sizeof elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
      elf.e_shentsize != sizeof section || !read_section(elf.e_shstrndx, names))
    return {};
  for (std::uint32_t i = 1; i < elf.e_shnum && i < kMaxSections; ++i) {
    if (!read_section(i, section) || !is_frame_section(file, names, section)) continue;
    const std::uint64_t begin = object.bias + section.sh_addr;
    const ByteRange range{begin, begin + section.sh_size};
    return is_mapped(object, range) ? range : ByteRange{};
  }
  return {};
}

}  // namespace

std::size_t read_program_headers(const char* path, const ElfW(Ehdr) & elf, HeaderRoom& room) {
  std::size_t count = 0;
  with_own_descriptors([&] { count = read_headers(path, elf, room); });
  return count;
}

ByteRange find_frame_section(const char* path, const LoadObject& object) {
  ByteRange found;
  with_own_descriptors([&] { found = find_section(path, object); });
  return found;
}

}  // namespace gnomon::collector
