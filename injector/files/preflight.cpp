// Preflight: can the loader put libcollector.so into this program? Any thread.
#include "injector/files/preflight.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <optional>

#include "injector/files/linkage.h"
#include "injector/files/read_at.h"
#include "injector/files/sanitizers.h"

namespace gnomon::injector {
namespace {

constexpr const char* kFromOutside = "`profile source kernel` (-k kernel) records it from outside";

std::string text_at(std::ifstream& file, std::uint64_t offset, std::uint64_t bytes) {
  std::array<char, 4096> text{};
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(text.data(),
            static_cast<std::streamsize>(std::min<std::uint64_t>(bytes, text.size() - 1)));
  file.clear();
  return text.data();
}

struct Segments {
  std::optional<std::string> interpreter;  // the loader that the program names; none: static
  bool is_go = false;                      // it has the note with Go's own build id
};
Segments segments_of(std::ifstream& file, const Elf64_Ehdr& header) {
  Segments found;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, header.e_phoff + i * sizeof segment, segment)) break;
    if (segment.p_type == PT_INTERP)
      found.interpreter = text_at(file, segment.p_offset, segment.p_filesz);
    if (segment.p_type == PT_NOTE)
      found.is_go |= text_at(file, segment.p_offset + sizeof(Elf64_Nhdr), 3) == "Go";
  }
  return found;
}

// glibc's loader, which may be executed itself: `ld-linux-x86-64.so.2 PROGRAM`.
bool is_loader(const std::string& path) {
  const auto linkage = Linkage::of(path);
  return linkage && linkage->soname().starts_with("ld-linux");
}

// Returns the loader that the program names, or is.
Result<std::string> check_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file || !read_at(file, 0, header))
    return fault("its file cannot be read", "see whether it exists and may be read");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return fault("it is not a program that the kernel runs itself",
                 "choose the interpreter that runs it with `target create`");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    return fault("it is not a 64-bit x86 program",
                 "build it for x86-64; `perf record -g` samples it as it is");
  const Segments segments = segments_of(file, header);
  if (!segments.interpreter && is_loader(path)) return path;
  if (!segments.interpreter && segments.is_go)
    return fault("it is a Go program without cgo, so no library can be loaded into it",
                 std::string("build it with CGO_ENABLED=1; ") + kFromOutside);
  if (!segments.interpreter)
    return fault("it is linked statically, so no library can be loaded into it",
                 std::string("link it without -static; ") + kFromOutside);
  if (segments.interpreter->find("ld-musl") != std::string::npos)
    return fault("it uses musl, the collector needs glibc",
                 std::string("build it against glibc; ") + kFromOutside);
  if (const auto linkage = Linkage::of(path))
    if (auto fits = check_sanitizer(*linkage); !fits) return tl::unexpected(fits.error());
  return *segments.interpreter;
}

tl::unexpected<Fault> unfit(const std::string& executable, const Fault& why) {
  return fault(executable + " cannot be recorded: " + why.what, why.next);
}

}  // namespace

Result<void> check_kind(const std::string& path) {
  const auto loader = check_file(path);
  if (!loader) return tl::unexpected(loader.error());
  return {};
}

bool is_native(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  return file && read_at(file, 0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
}

Result<void> check_program(const std::string& executable) {
  const auto loader = check_file(executable);
  if (!loader) return unfit(executable, loader.error());
  if (access(loader->c_str(), X_OK) != 0)
    return unfit(executable, {fmt::format("its loader {} is missing", *loader),
                              "install the libraries that it was built for"});
  return {};
}

Result<void> check_privileges(const std::string& executable) {
  struct stat info {};
  struct statvfs mount {};
  if (stat(executable.c_str(), &info) != 0 || statvfs(executable.c_str(), &mount) != 0) return {};
  if ((mount.f_flag & ST_NOSUID) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return {};
  const bool has_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != getuid();
  const bool has_group = (info.st_mode & S_ISGID) != 0 && info.st_gid != getgid();
  const bool has_capabilities =
      getuid() != 0 && getxattr(executable.c_str(), "security.capability", nullptr, 0) > 0;
  if (!has_user && !has_group && !has_capabilities) return {};
  return unfit(executable, {"it changes its user, its group or its capabilities, and the loader "
                            "preloads nothing into such a program",
                            "start it as the user that it becomes"});
}

}  // namespace gnomon::injector
