// Reads a small file such as those of /proc. Any context: raw system calls.
#pragma once
#include <fcntl.h>

#include <cstddef>

#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {

// Reads at most size - 1 bytes into `to` and adds a 0. Returns the number of bytes read, or 0 if
// the file is empty or cannot be read.
inline std::size_t read_small_file(const char* path, char* to, std::size_t size) {
  long length = 0;
  with_own_descriptors([&] {
    const long file = raw_syscall(SYS_openat, AT_FDCWD, arg(path), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    length = raw_syscall(SYS_read, file, arg(to), static_cast<long>(size - 1));
    raw_syscall(SYS_close, file);
  });
  if (length <= 0) return 0;
  to[length] = 0;
  return static_cast<std::size_t>(length);
}

}  // namespace gnomon::collector
