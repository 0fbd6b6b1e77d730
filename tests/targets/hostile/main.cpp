// Does one thing that programs do, again and again, and prints what it found if that was the same
// each time. Arguments: the row's name; how often (0: until there is a file `over` in its
// directory, once at least). It begins when it has read a line. Without arguments it lists the
// rows.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/targets/hostile/rows.h"

namespace hostile {
namespace {

const char* kind_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return "file";
  if (S_ISDIR(status.st_mode)) return "directory";
  if (S_ISCHR(status.st_mode)) return "device";
  if (S_ISFIFO(status.st_mode)) return "pipe";
  if (S_ISSOCK(status.st_mode)) return "socket";
  return "other";
}

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto rows : {rows_of_children(), rows_of_descriptors(), rows_of_ends(),
                          rows_of_handlers(), rows_of_limits(), rows_of_threads()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

// Byte by byte, so that children read on behind it.
void await_line() {
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {
  }
}

int run(const Row& row, int times) {
  await_line();
  Findings first;
  for (int i = 0; i == 0 || (times == 0 ? access("over", F_OK) != 0 : i < times); ++i) {
    Findings found;
    row.run(found);
    if (i == 0) first = found;
    if (found == first) continue;
    std::printf("first:\n%sround %d:\n%s", first.c_str(), i, found.c_str());
    return 1;
  }
  std::printf("%sright\n", first.c_str());
  return 0;
}

}  // namespace

void find(Findings& findings, const char* what, long value) {
  findings.append(what).append(" ").append(std::to_string(value)).append("\n");
}

void find_descriptors(Findings& findings, const char* where, Numbers which) {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  if (which == Numbers::below_limit) getrlimit(RLIMIT_NOFILE, &limit);
  DIR* const directory = opendir("/proc/self/fd");
  if (!directory) return;
  std::vector<int> numbers;
  while (const dirent* const entry = readdir(directory))
    if (entry->d_name[0] != '.') numbers.push_back(std::atoi(entry->d_name));
  std::sort(numbers.begin(), numbers.end());
  findings.append(where);
  for (const int number : numbers) {
    struct stat status {};
    if (number == dirfd(directory) || fstat(number, &status) != 0) continue;
    if (static_cast<rlim_t>(number) >= limit.rlim_cur) continue;
    const int flags = fcntl(number, F_GETFL);
    findings.append(" ").append(std::to_string(number)).append("=").append(kind_of(status));
    findings.append((flags & O_ACCMODE) == O_RDONLY ? "/r" : "/w");
    if ((fcntl(number, F_GETFD) & FD_CLOEXEC) != 0) findings.append("/c");
  }
  closedir(directory);
  findings.append("\n");
}

void work(int rounds) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < rounds; ++i) {
    void* block = std::malloc(static_cast<std::size_t>(16 + i % 500));
    asm volatile("" : : "r"(block) : "memory");
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    char bytes[64];
    if (i % 8 == 0 && zero >= 0 && pread(zero, bytes, sizeof bytes, 0) != sizeof bytes) _exit(90);
    std::free(block);
  }
  if (zero >= 0) close(zero);
}

}  // namespace hostile

int main(int argc, char** argv) {
  for (const hostile::Row& row : hostile::all_rows())
    if (argc < 2)
      std::printf("%s%s\n", row.name, row.ends_here ? " ends" : "");
    else if (std::strcmp(row.name, argv[1]) == 0)
      return hostile::run(row, argc > 2 ? std::atoi(argv[2]) : 1);
  return argc < 2 ? 0 : 2;
}
