// Prints what a program can see of its surroundings: arguments, environment, input, descriptors,
// signals, limits.
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

// Counts only numbers that the program can get: a collector may hold descriptors above its limit.
void print_descriptors() {
  const long limit = sysconf(_SC_OPEN_MAX);
  std::vector<std::string> found;
  DIR* directory = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(directory)) {
    const int number = std::atoi(entry->d_name);
    if (number != dirfd(directory) && number < limit) found.emplace_back(entry->d_name);
  }
  closedir(directory);
  std::sort(found.begin(), found.end());
  for (const std::string& name : found) std::printf("descriptor %s\n", name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) std::printf("argument %s\n", argv[i]);
  for (char** entry = environ; *entry; ++entry) std::printf("environment %s\n", *entry);
  for (int fd = 0; fd < 3; ++fd) std::printf("terminal %d %d\n", fd, isatty(fd));
  print_descriptors();
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Sig") || line.starts_with("ShdPnd")) std::printf("%s\n", line.c_str());
  for (const int which : {RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_AS, RLIMIT_FSIZE}) {
    rlimit limit{};
    getrlimit(static_cast<__rlimit_resource>(which), &limit);
    std::printf("limit %d %lu %lu\n", which, limit.rlim_cur, limit.rlim_max);
  }
  std::printf("errno %d\n", errno);
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) std::printf("input %s\n", line.c_str());
  return 3;
}
