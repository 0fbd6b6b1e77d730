// Linked to libc in several ways (see CMakeLists.txt) and recorded from its middle on: does what
// the collector follows by standing before libc's functions. Arguments: libcollector.so,
// /directory/test of test.N.er, a library to load, names of functions. Prints those of them that do
// not lead to the collector. Writes maps.before and maps.after.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/targets/bring_in.h"
#include "tests/targets/burn.h"

namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

volatile sig_atomic_t signals = 0;
// Not resolved lazily, wherever the program is.
Create in_data = pthread_create;

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

void say_where(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  Dl_info info{};
  if (!found || dladdr(found, &info) == 0 || !std::strstr(info.dli_fname, "libcollector"))
    std::printf("%s is in %s\n", name, info.dli_fname ? info.dli_fname : "nothing");
}

// A handler of its own for SIGPROF, with which the sampling goes on.
void take_sigprof() {
  struct sigaction fresh {
  }, old{};
  fresh.sa_handler = [](int) { signals = signals + 1; };
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
  for (int i = 4; i < argc; ++i) say_where(argv[i]);
  void* const plugin = dlopen(argv[3], RTLD_NOW);
  check(plugin);
  run(pthread_create, in_thread);
  run(in_data, in_thread);
  run(pthread_create, in_masked_thread);
  take_sigprof();
  execute();
  reinterpret_cast<void (*)()>(dlsym(plugin, "run_plugin"))();
  burn(0.3);
  return 3;
}
