// Traced: what is done with files by their paths. Normal context.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcollector/hook/hook.h"
#include "libcollector/trace/io/io.h"

namespace gnomon::collector {
namespace {

template <typename Signature>
struct OnPath;
template <typename Result, typename... Arguments>
struct OnPath<Result (*)(Arguments...)> {
  template <auto& Real>
  static Result traced(Arguments... arguments) {
    const std::uint64_t since = time_before();
    const Result result = Real(arguments...);
    record_path(GNOMON_OWN_CALL(), io_call(IoOperation::other, since, result, false),
                path_in(arguments...));
    return result;
  }
};

#define GNOMON_OF_PATH(name, result, ...)                                               \
  constinit NextSymbol<result (*)(__VA_ARGS__)> real_##name{#name};                     \
  constexpr auto* traced_##name = OnPath<result (*)(__VA_ARGS__)>::traced<real_##name>; \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)

GNOMON_OF_PATH(access, int, const char*, int);
GNOMON_OF_PATH(faccessat, int, int, const char*, int, int);
GNOMON_OF_PATH(stat, int, const char*, struct stat*);
GNOMON_OF_PATH(stat64, int, const char*, struct stat64*);
GNOMON_OF_PATH(lstat, int, const char*, struct stat*);
GNOMON_OF_PATH(lstat64, int, const char*, struct stat64*);
GNOMON_OF_PATH(fstatat, int, int, const char*, struct stat*, int);
GNOMON_OF_PATH(fstatat64, int, int, const char*, struct stat64*, int);
GNOMON_OF_PATH(statx, int, int, const char*, int, unsigned, struct statx*);
// Before glibc 2.33; the first argument is a version.
GNOMON_OF_PATH(__xstat, int, int, const char*, struct stat*);
GNOMON_OF_PATH(__xstat64, int, int, const char*, struct stat64*);
GNOMON_OF_PATH(__lxstat, int, int, const char*, struct stat*);
GNOMON_OF_PATH(__lxstat64, int, int, const char*, struct stat64*);
GNOMON_OF_PATH(chmod, int, const char*, mode_t);
GNOMON_OF_PATH(mkdir, int, const char*, mode_t);
GNOMON_OF_PATH(mkdirat, int, int, const char*, mode_t);
GNOMON_OF_PATH(rmdir, int, const char*);
GNOMON_OF_PATH(rename, int, const char*, const char*);
GNOMON_OF_PATH(renameat, int, int, const char*, int, const char*);
GNOMON_OF_PATH(renameat2, int, int, const char*, int, const char*, unsigned);
GNOMON_OF_PATH(link, int, const char*, const char*);
GNOMON_OF_PATH(linkat, int, int, const char*, int, const char*, int);
GNOMON_OF_PATH(symlink, int, const char*, const char*);
GNOMON_OF_PATH(readlink, ssize_t, const char*, char*, std::size_t);
GNOMON_OF_PATH(readlinkat, ssize_t, int, const char*, char*, std::size_t);
GNOMON_OF_PATH(unlink, int, const char*);
GNOMON_OF_PATH(unlinkat, int, int, const char*, int);
GNOMON_OF_PATH(remove, int, const char*);
GNOMON_OF_PATH(truncate, int, const char*, off_t);
GNOMON_OF_PATH(truncate64, int, const char*, off64_t);

// Entries come many at a time, at calls that are not told apart: reading them is not recorded.
constinit NextSymbol<DIR* (*)(const char*)> real_opendir{"opendir"};
DIR* traced_opendir(const char* path) {
  const std::uint64_t since = time_before();
  DIR* const directory = real_opendir(path);
  record_open(GNOMON_OWN_CALL(), io_call(IoOperation::open, since, directory ? 0 : -1, false),
              directory ? dirfd(directory) : -1, path);
  return directory;
}
constinit NextSymbol<int (*)(DIR*)> real_closedir{"closedir"};
int traced_closedir(DIR* directory) {
  const int descriptor = directory ? dirfd(directory) : -1;
  const std::uint32_t file = known_file(descriptor);
  forget_file(descriptor);
  const std::uint64_t since = time_before();
  const int result = real_closedir(directory);
  const IoCall done = io_call(IoOperation::close, since, result, false);
  if (TracedCall traced(GNOMON_OWN_CALL()); traced) record_io(traced, done, file);
  return result;
}
GNOMON_TRACED(HookGroup::io, traced_opendir, real_opendir);
GNOMON_TRACED(HookGroup::io, traced_closedir, real_closedir);

}  // namespace
}  // namespace gnomon::collector
