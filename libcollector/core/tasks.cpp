// The threads of this process, as the kernel knows them. Normal context: raw system calls.
#include "libcollector/core/tasks.h"

#include <dirent.h>
#include <fcntl.h>

#include "libcollector/core/syscall.h"

namespace gnomon::collector {

bool visit_tasks(void (*visit)(std::uint32_t tid, void* data), void* data) {
  const long folder =
      raw_syscall(SYS_openat, AT_FDCWD, arg("/proc/self/task"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(dirent64) char entries[4096];
  for (long n; (n = raw_syscall(SYS_getdents64, folder, arg(entries), sizeof entries)) > 0;)
    for (long at = 0; at < n;) {
      const auto& entry = *reinterpret_cast<const dirent64*>(entries + at);
      std::uint32_t tid = 0;
      for (const char* c = entry.d_name; *c >= '0' && *c <= '9'; ++c)
        tid = tid * 10 + static_cast<std::uint32_t>(*c - '0');
      if (tid != 0) visit(tid, data);
      at += entry.d_reclen;
    }
  raw_syscall(SYS_close, folder);
  return true;
}

}  // namespace gnomon::collector
