// Preflight of an attach, with or without a debugger: can the collector come into the process and
// work there? Reads /proc and the process's memory; any thread; stops and changes nothing.
#include "injector/attach/checks/process_checks.h"

#include <linux/kcmp.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "injector/attach/remote/namespace_view.h"
#include "injector/attach/remote/remote_image.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/files/linkage.h"
#include "injector/files/sanitizers.h"
#include "libcollector/format/attach.h"
#include "libcollector/format/block.h"

namespace gnomon::injector {
namespace {

namespace fs = std::filesystem;

// A child of vfork(2) shares its parent's memory.
Result<void> check_memory_is_its_own(pid_t pid, const std::string&) {
  const auto parent = static_cast<pid_t>(status_number(pid, "PPid").value_or(0));
  if (parent > 0 && syscall(SYS_kcmp, pid, parent, KCMP_VM, 0, 0) == 0)
    return fault("it still shares the memory of process " + std::to_string(parent) +
                     ", which made it (vfork)",
                 "repeat once it runs a program of its own");
  return {};
}

// Two profilers that use SIGPROF would take it from each other.
Result<void> check_other_collectors(pid_t pid, const std::string&) {
  struct Collector {
    const char *file, *name, *next;
  };
  constexpr std::array kCollectors{
      Collector{"/libgp-collector.so", "gprofng", "start it without `gprofng collect app`"},
      Collector{"/libhpcrun.so", "HPCToolkit", "start it without hpcrun"},
  };
  for (const Mapping& mapping : mappings_of(pid))
    for (const Collector& other : kCollectors)
      if (mapping.path.find(other.file) != std::string::npos)
        return fault(std::string("it is recorded by ") + other.name + ", which needs SIGPROF, too",
                     other.next);
  return {};
}

// A library's first page, which identifies its build.
using PageBytes = std::array<char, 4096>;

// dlopen would load a second collector if the file differs, and none if only the name is the same.
Result<void> check_collector_inside(pid_t pid, const std::string& library) {
  for (const Mapping& mapping : mappings_of(pid)) {
    if (mapping.offset != 0 || mapping.path.find("/libcollector.so") == std::string::npos) continue;
    const auto image = RemoteImage::at(pid, mapping.begin);
    if (!image) continue;
    if (image->function(format::kAttachFunction) == 0)
      return fault("another collector is in it (" + mapping.path + ")",
                   "start it without that collector, perhaps Oracle Developer Studio's `collect`");
    PageBytes ours{}, theirs{};
    if (std::ifstream(library, std::ios::binary).read(ours.data(), ours.size()) &&
        read_memory(pid, mapping.begin, theirs.data(), theirs.size()) && ours == theirs &&
        mapping.path == library)
      continue;
    return fault("the libcollector.so in it is not that of this Gnomon (" + mapping.path + ")",
                 "use the Gnomon to which it belongs, or restart the program");
  }
  return {};
}

Result<void> check_build(pid_t pid, const std::string&) {
  const auto linkage = Linkage::of("/proc/" + std::to_string(pid) + "/exe");
  return linkage ? check_sanitizer(*linkage) : Result<void>{};
}

std::uint64_t files_open(pid_t pid) {
  std::error_code error;
  std::uint64_t count = 0;
  for (fs::directory_iterator at("/proc/" + std::to_string(pid) + "/fd", error), end;
       !error && at != end; at.increment(error))
    ++count;
  return count;
}

// Exceeding any other limit only makes the call in question fail.
Result<void> check_limits(pid_t pid, const std::string&) {
  constexpr rlim_t kFiles = 2;  // a directory and a file in it
  const std::string set = "`prlimit --pid " + std::to_string(pid);
  rlimit limit{};
  if (prlimit(pid, RLIMIT_FSIZE, nullptr, &limit) == 0 && limit.rlim_cur < format::kBlockBytes)
    return fault("its limit of " + std::to_string(limit.rlim_cur) +
                     " bytes a file leaves no room for an experiment",
                 set + " --fsize=unlimited` lifts that");
  if (prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      files_open(pid) + kFiles > limit.rlim_cur)
    return fault("it may open no more files (its limit is " + std::to_string(limit.rlim_cur) + ")",
                 set + " --nofile=N` lifts that");
  return {};
}

Result<void> check_proc(pid_t pid, const std::string&) { return check_own_proc(pid); }

}  // namespace

Result<void> check_process(pid_t pid, const std::string& library) {
  for (const auto check : {check_memory_is_its_own, check_build, check_other_collectors,
                           check_collector_inside, check_limits, check_proc})
    if (auto fits = check(pid, library); !fits) return fits;
  return {};
}

bool has_collector(pid_t pid) {
  for (const Mapping& mapping : mappings_of(pid))
    if (mapping.path.find("/libcollector.so") != std::string::npos) return true;
  return false;
}

Result<std::uint64_t> find_release(pid_t pid) {
  if (auto own = check_memory_is_its_own(pid, ""); !own) return tl::unexpected(own.error());
  for (const RemoteImage& collector : collectors_in(pid))
    if (const std::uint64_t function = collector.function(format::kReleaseFunction); function != 0)
      return function;
  return fault("the libcollector.so in it is of another version");
}

}  // namespace gnomon::injector
