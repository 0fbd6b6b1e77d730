// What identifies the file of a load object that has no build-id. Any context; raw system calls.
#include "libcollector/objects/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "libcollector/core/syscall.h"
#include "libcollector/format/layout.h"

namespace gnomon::collector {
namespace {

std::uint64_t layout_of(const LoadObject& object) {
  std::uint64_t sum =
      format::layout_step(0, object.headers, object.header_count * sizeof(ElfW(Phdr)));
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    const std::uint64_t begin = object.bias + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME && begin >= object.begin &&
        header.p_filesz <= object.end - begin)
      sum = format::layout_step(sum, reinterpret_cast<const void*>(begin), header.p_filesz);
  }
  return sum;
}

}  // namespace

FileIdentity identity_of_file(const LoadObject& object, const char* path) {
  FileIdentity identity;
  struct stat info {};
  if (raw_syscall(SYS_newfstatat, AT_FDCWD, arg(path), arg(&info), 0) == 0) {
    identity.bytes = static_cast<std::uint64_t>(info.st_size);
    identity.modified = static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
                        static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
  }
  if (object.header_count != 0) identity.layout = layout_of(object);
  return identity;
}

}  // namespace gnomon::collector
