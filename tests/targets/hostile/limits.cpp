// Programs at their limits of descriptors, memory, processes and file size, without rights, and in
// another root. The limits hold for a child that the row makes, or for the rest of the process.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include "tests/targets/hostile/rows.h"

namespace hostile {
namespace {

void limit(decltype(RLIMIT_AS) what, rlim_t most) {
  const rlimit both{most, most};
  if (setrlimit(what, &both) != 0) _exit(91);
}

// All descriptors that the limit allows are the program's.
void few_descriptors(Findings& findings) {
  limit(RLIMIT_NOFILE, 40);
  std::vector<int> files;
  int file = -1;
  while ((file = open("/dev/null", O_RDWR)) >= 0) files.push_back(file);
  find(findings, "error", errno);
  find(findings, "files", static_cast<long>(files.size()));
  std::thread other([] { work(3000); });
  work(3000);
  other.join();
  for (const int each : files) close(each);
  find(findings, "again the lowest", open("/dev/null", O_RDWR));
}

void little_memory(Findings& findings) {
  long pages = 0;
  FILE* const sizes = std::fopen("/proc/self/statm", "r");
  if (!sizes || std::fscanf(sizes, "%ld", &pages) != 1) _exit(92);
  std::fclose(sizes);
  limit(RLIMIT_AS, static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (64u << 20));
  // Memory that the collector maps, at first and later, must not be missing here.
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(std::malloc(1 << 20));
  long missing = 0;
  for (void* const block : blocks) missing += block == nullptr;
  find(findings, "blocks missing of 40 MiB", missing);
  work(2000);
  for (void* const block : blocks) std::free(block);
  long refused = 0;
  for (int i = 0; i < 4; ++i) std::thread([] { work(500); }).join();
  void* const large = std::malloc(200u << 20);
  refused += large == nullptr;
  std::free(large);
  find(findings, "200 MiB refused", refused);
}

void small_files(Findings& findings) {
  limit(RLIMIT_FSIZE, 32 << 10);
  work(8000);
  const int file = open("small", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  static const char bytes[20 << 10] = {};
  find(findings, "first", write(file, bytes, sizeof bytes));
  find(findings, "second", write(file, bytes, sizeof bytes));
  close(file);
  unlink("small");
  work(2000);
}

// A server that has opened its port and is nobody from then on.
void drops_rights(Findings& findings) {
  const int result = setgid(65534) + setuid(65534);
  find(findings, "result", geteuid() == 65534 ? 0 : result);
  limit(RLIMIT_NPROC, 0);
  work(6000);
  find(findings, "fork", fork());
  find(findings, "error", errno);
  std::thread* none = nullptr;
  try {
    none = new std::thread([] { work(10); });
  } catch (const std::exception&) {
    find(findings, "thread refused", none == nullptr);
  }
  if (none) none->join();
  delete none;
}

void another_root(Findings& findings) {
  if (mkdir("root", 0700) != 0 && errno != EEXIST) _exit(93);
  find(findings, "chroot", chroot("root"));
  find(findings, "chdir", chdir("/"));
  work(6000);
  find(findings, "etc is there", access("/etc", F_OK));
}

void directory_is_gone(Findings& findings) {
  char place[] = "gone.XXXXXX";
  if (!mkdtemp(place) || chdir(place) != 0 || rmdir((std::string("../") + place).c_str()) != 0)
    _exit(94);
  work(6000);
  char path[64];
  find(findings, "no directory", getcwd(path, sizeof path) == nullptr && errno == ENOENT);
}

// All limits that a program may not raise again.
constexpr Row kRows[] = {
    {"few_descriptors", few_descriptors, true}, {"little_memory", little_memory, true},
    {"small_files", small_files, true},         {"drops_rights", drops_rights, true},
    {"another_root", another_root, true},       {"directory_is_gone", directory_is_gone, true}};

}  // namespace

std::span<const Row> rows_of_limits() { return kRows; }

}  // namespace hostile
