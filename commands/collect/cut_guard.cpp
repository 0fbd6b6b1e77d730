// Files that are mapped and that others may cut short meanwhile. The handler: any context.
#include "commands/collect/cut_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace gnomon::commands {
namespace {

std::uintptr_t page_bytes = 0;

// The instruction is repeated. Where the fault is of another kind it then ends the program.
void on_bus_error(int number, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  void* const page = reinterpret_cast<void*>(at & ~(page_bytes - 1));
  if (info->si_code != BUS_ADRERR ||
      mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
           0) == MAP_FAILED)
    signal(number, SIG_DFL);
}

}  // namespace

void survive_cut_files() {
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace gnomon::commands
