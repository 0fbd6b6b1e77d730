// Programs built with -fsanitize. Any thread.
#include "injector/files/sanitizers.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gnomon::injector {

// Both runtimes would report the collector's own accesses through libc and end the process.
Result<void> check_sanitizer(const Linkage& program) {
  constexpr std::pair<const char*, const char*> kWatchful[] = {{"__tsan_init", "thread"},
                                                               {"__msan_init", "memory"}};
  for (const auto& [symbol, kind] : kWatchful)
    if (program.has_symbol(symbol))
      return fault(std::string("it is built with -fsanitize=") + kind +
                       ", whose runtime would report the collector's own work as errors",
                   "build it without that");
  return {};
}

// These runtimes interpose libc's functions and call the next ones of that name: the collector's,
// if it is loaded after them. AddressSanitizer ends a program in which it is not the first library.
std::string first_library(const Linkage& program) {
  constexpr std::string_view kLibraries[] = {"libasan.so", "liblsan.so", "libhwasan.so",
                                             "libclang_rt.asan", "libclang_rt.hwasan"};
  for (const std::string& name : program.needed())
    if (std::any_of(std::begin(kLibraries), std::end(kLibraries),
                    [&](std::string_view runtime) { return name.starts_with(runtime); }))
      return name;
  return "";
}

}  // namespace gnomon::injector
