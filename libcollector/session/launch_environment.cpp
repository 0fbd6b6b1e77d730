// The environment by which a launcher asks for a recording. Normal context.
#include "libcollector/session/launch_environment.h"

#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "libcollector/format/names.h"
#include "libcollector/objects/executable.h"

namespace gnomon::collector {
namespace {

bool copy(const char* from, char (&to)[ExperimentDirectory::kPathBytes]) {
  if (!from || std::strlen(from) >= sizeof to) return false;
  std::memcpy(to, from, std::strlen(from) + 1);
  return true;
}

std::uint64_t number(const char* text, int base) {
  return text ? std::strtoull(text, nullptr, base) : 0;
}

// Removes an entry from the list in place; entries are apart by ':' or ' ' (ld.so(8)).
void remove_entry(char* list, const char* entry, std::size_t length) {
  for (char* at = list; *at;) {
    const std::size_t n = std::strcspn(at, ": ");
    char* after = at + n + (at[n] ? 1 : 0);
    if (n == length && std::memcmp(at, entry, n) == 0)
      std::memmove(at, after, std::strlen(after) + 1);
    else
      at = after;
  }
  const std::size_t left = std::strlen(list);
  if (left > 0 && list[left - 1] == ':') list[left - 1] = 0;
}

}  // namespace

bool read_launch_environment(Settings& settings) {
  const char* target = getenv(format::kEnvTarget);
  if (!target) return false;
  if (!executable_path(settings.executable, sizeof settings.executable)) return false;
  if (std::strcmp(target, settings.executable) != 0) return false;
  settings.session = number(getenv(format::kEnvSession), 16);
  if (const char* text = getenv(format::kEnvSettings)) settings.values = format::settings_in(text);
  return copy(getenv(format::kEnvStem), settings.stem) && settings.session != 0;
}

void clean_environment() {
  char* preload = getenv("LD_PRELOAD");
  const char* library = getenv(format::kEnvLibrary);
  if (preload && library) {
    for (std::size_t n = 0; *library; library += n + (library[n] ? 1 : 0)) {
      n = std::strcspn(library, ":");
      remove_entry(preload, library, n);
    }
    if (!*preload) unsetenv("LD_PRELOAD");
  }
  for (const char* name : {format::kEnvLibrary, format::kEnvTarget, format::kEnvSession,
                           format::kEnvStem, format::kEnvSettings})
    unsetenv(name);
}

}  // namespace gnomon::collector
