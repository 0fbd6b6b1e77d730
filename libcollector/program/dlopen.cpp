// Traced with any other call: dlopen and dlsym, so that functions of a library that comes late are
// traced as well.
// Normal context.
#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstring>

#include "libcollector/hook/binding.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/jump_after.h"
#include "libcollector/target/recording.h"

namespace gnomon::collector {
namespace {

using Open = void* (*)(const char*, int);
using FindSymbol = void* (*)(void*, const char*);
constinit NextSymbol<Open> real_dlopen{"dlopen"};
constinit NextSymbol<FindSymbol> real_dlsym{"dlsym"};

// What a load object says of where libraries are looked for that it asks for.
struct SearchPaths {
  bool has_own = false;      // for itself: DT_RUNPATH, DF_1_NODEFLIB
  bool has_for_all = false;  // also for what those ask for: DT_RPATH
};
SearchPaths search_paths_of(const dl_phdr_info& info) {
  SearchPaths paths;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + header.p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
      paths.has_own |= entry->d_tag == DT_RUNPATH ||
                       (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODEFLIB) != 0);
      paths.has_for_all |= entry->d_tag == DT_RPATH;
    }
  }
  return paths;
}

bool contains(const dl_phdr_info& info, std::uint64_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type == PT_LOAD && address - info.dlpi_addr - header.p_vaddr < header.p_memsz)
      return true;
  }
  return false;
}

// The loader looks for a library by what stands in the object that asks for it. Returns true if it
// finds the same one where the collector asks. The executable's DT_RPATH counts in any case.
bool is_found_from_anywhere(const char* file, std::uint64_t caller) {
  if (!file || std::strchr(file, '$')) return false;
  struct Search {
    std::uint64_t caller;
    bool is_path, differs;
  } search{caller, std::strchr(file, '/') != nullptr, false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& [of, is_path, differs] = *static_cast<Search*>(data);
        const SearchPaths paths = search_paths_of(*info);
        const bool is_executable = *info->dlpi_name == 0;
        if (paths.has_for_all && !is_executable) differs = true;
        if (!is_path && paths.has_own && contains(*info, of)) differs = true;
        return 0;
      },
      &search);
  return !search.differs;
}

// A thread that finds another one at work leaves the rest to that: the other may wait for a lock of
// the loader's which this one holds.
void look_at_libraries() {
  if (!own_control()) return;
  const int saved_errno = errno;
  while (has_library_come()) {
    const HookWork work(0);
    if (!work) break;
    if (const HookGroups changed = find_originals_that_came(); changed != 0) bind_hooks(changed);
  }
  errno = saved_errno;
}

void* open_and_look(const char* file, int mode) {
  void* const library = real_dlopen(file, mode);
  if (library) look_at_libraries();
  return library;
}

}  // namespace

extern "C" {

// Returns the function to which the call continues. Where the loader would search for the library
// from elsewhere, that is libc's own, and the library is looked at when the program asks for one of
// its symbols.
[[gnu::used, gnu::visibility("hidden")]] void* gnomon_before_dlopen(const char* file, int, void*,
                                                                    std::uint64_t return_address) {
  const bool may_look = own_control() && is_found_from_anywhere(file, return_address);
  return reinterpret_cast<void*>(may_look ? open_and_look : real_dlopen.get());
}

[[gnu::used, gnu::visibility("hidden")]] void* gnomon_before_dlsym() {
  look_at_libraries();
  return reinterpret_cast<void*>(real_dlsym.get());
}

[[gnu::naked]] static void* gnomon_dlopen(const char*, int) {
  GNOMON_JUMP(GNOMON_WITH_RETURN, "gnomon_before_dlopen", "");
}

[[gnu::naked]] static void* gnomon_dlsym(void*, const char*) {
  GNOMON_JUMP_AFTER("gnomon_before_dlsym");
}
}

namespace {

GNOMON_TRACED(HookGroup::libraries, gnomon_dlopen, real_dlopen);
GNOMON_TRACED(HookGroup::libraries, gnomon_dlsym, real_dlsym);

}  // namespace

}  // namespace gnomon::collector
