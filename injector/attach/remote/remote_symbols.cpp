// Finds functions of a running process by the dynamic tables in its memory, so that its files may
// be gone or in another mount namespace. Any thread; stops nothing.
#include "injector/attach/remote/remote_symbols.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "injector/attach/remote/remote_image.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/files/preflight.h"

namespace gnomon::injector {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

constexpr int kLibc = 2;

// Position of an object in the order in which the program's own calls are bound; -1 if it is not
// searched. libpthread and libdl: glibc older than 2.34.
int rank(const Mapping& mapping, const std::string& executable) {
  if (mapping.path == executable) return 0;
  const std::string name = file_name(mapping.path);
  if (name.starts_with("libasan.") || name.starts_with("libtsan.") ||
      name.starts_with("libclang_rt."))
    return 1;
  if (name.starts_with("libc.so") || name.starts_with("libc-2.")) return kLibc;
  if (name.starts_with("libpthread") || name.starts_with("libdl")) return 3;
  return -1;
}

std::vector<RemoteImage> images_of(pid_t pid) {
  const std::string executable = proc_link(pid, "exe");
  std::vector<std::pair<int, RemoteImage>> ranked;
  for (const Mapping& mapping : mappings_of(pid)) {
    if (mapping.offset != 0 || !mapping.path.starts_with("/")) continue;
    const int order = rank(mapping, executable);
    if (order < 0) continue;
    if (const auto image = RemoteImage::at(pid, mapping.begin)) ranked.emplace_back(order, *image);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<RemoteImage> images;
  for (auto& [order, image] : ranked) images.push_back(image);
  return images;
}

// Returns true once libc's constructor has run; before, its functions are not relocated or not
// initialised. The constructor sets program_invocation_name, which first points to an empty text
// inside libc, by an address that is not even relocated at the very beginning.
bool is_ready(pid_t pid, const std::vector<RemoteImage>& images) {
  const auto libc = std::find_if(images.begin(), images.end(), [](const RemoteImage& image) {
    return image.function("__libc_start_main") != 0;
  });
  if (libc == images.end()) return false;
  const AddressRange range = libc->range();
  return std::any_of(images.begin(), images.end(), [&](const RemoteImage& image) {
    const std::uint64_t variable = image.data("__progname_full");
    const auto name = variable != 0 ? read_value<std::uint64_t>(pid, variable) : std::nullopt;
    return name && *name >= range.end - range.begin && !range.contains(*name);
  });
}

Fault no_loader(pid_t pid) {
  if (auto fits = check_kind("/proc/" + std::to_string(pid) + "/exe"); !fits) return fits.error();
  const std::string executable = proc_link(pid, "exe");
  for (const Mapping& mapping : mappings_of(pid))
    if (rank(mapping, executable) >= kLibc)
      return {"its libc lacks dlopen or pthread_create, so no library can be loaded into it",
              "start the program from the debugger instead"};
  return {"it has no libc, or has not loaded it yet", "repeat once it runs in its main function"};
}

}  // namespace

Result<LoaderFunctions> find_loader_functions(pid_t pid) {
  const std::vector<RemoteImage> images = images_of(pid);
  const auto find = [&](const char* name) {
    for (const RemoteImage& image : images)
      if (const std::uint64_t found = image.function(name)) return found;
    return std::uint64_t{0};
  };
  const LoaderFunctions found{find("pthread_create"), find("pthread_detach"), find("dlopen"),
                              find("dlsym"), find("dlerror")};
  for (const std::uint64_t address :
       {found.pthread_create, found.pthread_detach, found.dlopen, found.dlsym, found.dlerror})
    if (address == 0) return tl::unexpected(no_loader(pid));
  if (!is_ready(pid, images))
    return fault("its libraries are not ready yet", "repeat once it runs in its main function");
  return found;
}

// Searches the code of syscall(3).
std::uint64_t find_system_call_instruction(pid_t pid) {
  constexpr std::array<unsigned char, 2> kInstruction = {0x0f, 0x05};
  constexpr std::uint64_t kMost = 256;
  for (const RemoteImage& image : images_of(pid))
    for (const AddressRange& range : image.functions("syscall"))
      for (std::uint64_t at = range.begin; at < std::min(range.end, range.begin + kMost); ++at)
        if (read_value<std::array<unsigned char, 2>>(pid, at) == kInstruction) return at;
  return 0;
}

}  // namespace gnomon::injector
