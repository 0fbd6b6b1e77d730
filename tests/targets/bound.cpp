// Linked to libc in several ways (see CMakeLists.txt) and recorded from its middle on: does what
// the collector follows by standing before libc's functions. Arguments: libcollector.so,
// /directory/test of test.N.er, a library to load, names of functions. Prints those of them that do
// not lead to the collector, or still do once it has given the process back. Writes maps.before,
// maps.after and maps.released.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <string>

#include "tests/targets/bring_in.h"
#include "tests/targets/burn.h"

namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

volatile sig_atomic_t signals = 0;
// Not resolved lazily, wherever the program is.
Create volatile in_data = pthread_create;

void* in_thread(void*) {
  burn(0.3);
  asm volatile("");
  return nullptr;
}
void* in_masked_thread(void*) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  burn(0.3);
  asm volatile("");
  return nullptr;
}

void run(Create create, void* (*routine)(void*)) {
  pthread_t thread;
  check(create(&thread, nullptr, routine, nullptr) == 0 && pthread_join(thread, nullptr) == 0);
}

void copy_maps(const char* name) {
  std::ofstream(name) << std::ifstream("/proc/self/maps").rdbuf();
}

void say_where(const char* name, bool expected) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  Dl_info info{};
  const bool known = found && dladdr(found, &info) != 0;
  if (!known || (std::strstr(info.dli_fname, "libcollector") != nullptr) != expected)
    std::printf("%s is in %s\n", name, info.dli_fname ? info.dli_fname : "nothing");
}

// The collector's functions that stand before libc's.
std::set<std::uint64_t> hooks() {
  std::set<std::uint64_t> all;
  const auto* table =
      static_cast<gnomon::format::HookTable*>(dlsym(collector, gnomon::format::kHookTable));
  check(table);
  for (std::uint64_t row = table->begin; row < table->end; row += table->row_bytes)
    all.insert(reinterpret_cast<const gnomon::format::HookedFunction*>(row)->replacement);
  all.erase(0);
  return all;
}

// Words of load objects that hold the address of one, the collector's own apart.
int words_that_lead_to_hooks() {
  struct Search {
    std::set<std::uint64_t> hooks;
    int count;
  } search{hooks(), 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& [wanted, count] = *static_cast<Search*>(data);
        if (std::strstr(info->dlpi_name, "libcollector")) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD || !(header.p_flags & PF_W)) continue;
          const auto begin = (info->dlpi_addr + header.p_vaddr + 7) & ~7ull;
          const auto end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
          for (std::uint64_t at = begin; at + 8 <= end; at += 8)
            count += wanted.contains(*reinterpret_cast<const std::uint64_t*>(at)) ? 1 : 0;
        }
        return 0;
      },
      &search);
  return search.count;
}

// A handler of its own for SIGPROF, with which the sampling goes on.
void take_sigprof() {
  struct sigaction fresh {
  }, old{};
  fresh.sa_handler = [](int) { signals = signals + 1; };
  signals = 0;
  check(sigaction(SIGPROF, &fresh, &old) == 0 && old.sa_handler == SIG_DFL);
  check(raise(SIGPROF) == 0 && signals == 1);
  check(sigaction(SIGPROF, nullptr, &old) == 0 && old.sa_handler == fresh.sa_handler);
  check(signal(SIGPROF, SIG_DFL) == fresh.sa_handler);
}

// What it executes is not ended by a tick.
void execute() {
  const pid_t child = fork();
  check(child >= 0);
  if (child == 0) {
    run(pthread_create, [](void*) -> void* { return nullptr; });
    execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

}  // namespace

int main(int argc, char** argv) {
  check(argc >= 4);
  burn(0.05);
  copy_maps("maps.before");
  bring_in_by_thread({argv[1], argv[2]});
  copy_maps("maps.after");
  for (int i = 4; i < argc; ++i) say_where(argv[i], true);
  check(argc == 4 || words_that_lead_to_hooks() > 0);
  void* const plugin = dlopen(argv[3], RTLD_NOW);
  check(plugin);
  run(pthread_create, in_thread);
  run(in_data, in_thread);
  run(pthread_create, in_masked_thread);
  take_sigprof();
  execute();
  reinterpret_cast<void (*)()>(dlsym(plugin, "run_plugin"))();
  burn(0.3);
  do_by_thread(give_back, nullptr);
  copy_maps("maps.released");
  for (int i = 4; i < argc; ++i) say_where(argv[i], false);
  check(words_that_lead_to_hooks() == 0);
  run(in_data, in_masked_thread);
  take_sigprof();
  execute();
  return 3;
}
