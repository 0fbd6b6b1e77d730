// Comes before a program by LD_PRELOAD and seals what the loader has made read-only, as a hardened
// one would: its protection cannot be changed any more (mseal(2)).
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#ifndef SYS_mseal
#define SYS_mseal 462
#endif

[[gnu::constructor]] static void seal() {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (!maps) return;
  char line[4352], permissions[5];
  for (unsigned long begin, end; std::fgets(line, sizeof line, maps);)
    if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, permissions) == 3 &&
        std::strcmp(permissions, "r--p") == 0 && std::strstr(line, " /"))
      syscall(SYS_mseal, begin, end - begin, 0);
  std::fclose(maps);
}
