// Reserves, maps and writes pieces of an experiment's files. Any context, signal handlers too.
#include "libcollector/record/file_space.h"

#include <fcntl.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

using format::Failure;

// Beyond this limit the kernel sends SIGXFSZ, which ends the program, so the limit is checked
// first.
bool within_file_size_limit(std::uint64_t end) {
  rlimit limit{};
  const long r = raw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, arg(&limit));
  return r < 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

// For file systems without fallocate: writing zeros reserves space, too. They are appended, because
// another thread may reserve the same range and have written to it by now; the file may grow
// further than `end`. A held descriptor keeps O_APPEND: its file is only mapped.
long append_zeros(int fd, std::uint64_t end) {
  static const char zeros[4096] = {};
  if (const long set = raw_syscall(SYS_fcntl, fd, F_SETFL, O_APPEND); set < 0) return set;
  for (;;) {
    const long size = raw_syscall(SYS_lseek, fd, 0, SEEK_END);
    if (size < 0) return size;
    if (static_cast<std::uint64_t>(size) >= end) return 0;
    const std::uint64_t missing = end - static_cast<std::uint64_t>(size);
    const long n = raw_syscall(SYS_write, fd, arg(zeros),
                               static_cast<long>(std::min<std::uint64_t>(sizeof zeros, missing)));
    if (n == 0) return -ENOSPC;
    if (n < 0 && n != -EINTR) return n;
  }
}

long reserve(int fd, std::uint64_t offset, std::uint64_t bytes) {
  long r;
  do {
    r = raw_syscall(SYS_fallocate, fd, 0, static_cast<long>(offset), static_cast<long>(bytes));
  } while (r == -EINTR);
  return r == -EOPNOTSUPP ? append_zeros(fd, offset + bytes) : r;
}

Failure failure_of(long error) {
  switch (error) {
    case -ENOSPC:
    case -EDQUOT:
      return Failure::no_space;
    case -EFBIG:
      return Failure::file_size_limit;
    default:
      return Failure::open_file;
  }
}

// Calls use(descriptor) with a descriptor of the file, or -errno.
template <typename Use>
void with_file(const File& file, int flags, Use&& use) {
  if (const int held = (flags & O_EXCL) != 0 ? -1 : file.directory.held(file.name); held >= 0)
    return use(held);
  with_own_descriptors(
      [&] {
        const int opened = file.directory.open_file(file.name, flags);
        use(opened);
        if (opened >= 0) raw_syscall(SYS_close, opened);
      },
      file.directory.handed());
}

Range map_reserved(int fd, std::uint64_t offset, std::uint64_t bytes, void* over) {
  if (fd < 0) return {nullptr, failure_of(fd), -fd};
  if (const long error = reserve(fd, offset, bytes); error < 0)
    return {nullptr, failure_of(error), static_cast<int>(-error)};
  const long at = raw_syscall(SYS_mmap, arg(over), static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                              MAP_SHARED | (over ? MAP_FIXED : 0), fd, static_cast<long>(offset));
  if (at < 0 && at > -4096) return {nullptr, Failure::map_file, static_cast<int>(-at)};
  return {reinterpret_cast<void*>(at), Failure::none, 0};
}

FileError write_all(int fd, std::uint64_t offset, const char* from, std::uint64_t bytes) {
  if (fd < 0) return {failure_of(fd), -fd};
  long n = 0;
  for (std::uint64_t done = 0; done < bytes; done += static_cast<std::uint64_t>(n)) {
    do {
      n = raw_syscall(SYS_pwrite64, fd, arg(from + done), static_cast<long>(bytes - done),
                      static_cast<long>(offset + done));
    } while (n == -EINTR);
    if (n == 0) n = -ENOSPC;
    if (n < 0) return {failure_of(n), static_cast<int>(-n)};
  }
  return {};
}

FileError append_all(int fd, const char* text, std::uint64_t bytes) {
  if (fd < 0) return {failure_of(fd), -fd};
  // A write beyond the limit would send SIGXFSZ.
  const long size = raw_syscall(SYS_lseek, fd, 0, SEEK_END);
  const bool fits = size >= 0 && within_file_size_limit(static_cast<std::uint64_t>(size) + bytes);
  const long n = fits ? raw_syscall(SYS_write, fd, arg(text), static_cast<long>(bytes)) : -EFBIG;
  if (n < 0) return {failure_of(n), static_cast<int>(-n)};
  if (n != static_cast<long>(bytes)) return {Failure::no_space, ENOSPC};
  return {};
}

}  // namespace

Range map_range(File file, Create create, std::uint64_t offset, std::uint64_t bytes, void* over) {
  if (!within_file_size_limit(offset + bytes)) return {nullptr, Failure::file_size_limit, EFBIG};
  const int exclusive = create == Create::must_be_new ? O_EXCL : 0;
  Range found;
  with_file(file, O_RDWR | O_CREAT | exclusive,
            [&](int fd) { found = map_reserved(fd, offset, bytes, over); });
  return found;
}

void unmap_range(void* at, std::uint64_t bytes) {
  raw_syscall(SYS_munmap, arg(at), static_cast<long>(bytes));
}

FileError write_range(File file, std::uint64_t offset, const void* from, std::uint64_t bytes) {
  if (!within_file_size_limit(offset + bytes)) return {Failure::file_size_limit, EFBIG};
  FileError error;
  with_file(file, O_WRONLY | O_CREAT,
            [&](int fd) { error = write_all(fd, offset, static_cast<const char*>(from), bytes); });
  return error;
}

void cut_file(File file, std::uint64_t bytes) {
  with_file(file, O_WRONLY, [&](int fd) {
    if (fd >= 0) raw_syscall(SYS_ftruncate, fd, static_cast<long>(bytes));
  });
}

FileError append_text(File file, const char* text, std::uint64_t bytes) {
  FileError error;
  with_file(file, O_WRONLY | O_CREAT | O_APPEND,
            [&](int fd) { error = append_all(fd, text, bytes); });
  return error;
}

}  // namespace gnomon::collector
