// Brings the collector in while its threads compute, on a thread made for it, and says what it
// answered. Arguments: libcollector.so, /directory/test of test.N.er; what to do after: "again"
// brings it in a second time, "fork" in a child, whose exit status it hands on.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "libcollector/format/attach.h"
#include "tests/targets/burn.h"

namespace {

using gnomon::format::AttachRequest;

void check(bool right) {
  if (!right) std::exit(1);
}

// Looks at its clock rarely: a thread that leaves the CPU for that before each tick is not met.
[[gnu::always_inline]] inline void compute(double seconds) {
  for (const double end = cpu_time() + seconds; cpu_time() < end;)
    for (int i = 0; i < 1'000'000; ++i) asm volatile("");
}

[[gnu::noipa]] void in_main(double seconds) { compute(seconds); }
[[gnu::noipa]] void in_thread(double seconds) { compute(seconds); }
[[gnu::noipa]] void in_blocking(double seconds) { compute(seconds); }

struct Wanted {
  const char *library, *stem;
};

void* bring_in(void* pointer) {
  const auto& wanted = *static_cast<Wanted*>(pointer);
  static AttachRequest request;
  request = {};
  request.bytes = sizeof request;
  request.version = gnomon::format::kAttachVersion;
  request.session = 5;
  request.interval = 10'000'000;
  std::strcpy(request.stem, wanted.stem);
  void* library = dlopen(wanted.library, RTLD_NOW);
  if (!library) std::puts(dlerror());
  check(library);
  auto* attach =
      reinterpret_cast<int (*)(AttachRequest*)>(dlsym(library, gnomon::format::kAttachFunction));
  check(attach);
  attach(&request);
  std::printf("answer %u threads %u blocking %u refused %u error %d %s\n", request.answer,
              request.threads, request.blocking, request.refused, request.error, request.directory);
  std::fflush(stdout);
  return nullptr;
}

void bring_in_by_thread(Wanted wanted) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t helper;
  check(pthread_create(&helper, nullptr, bring_in, &wanted) == 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  check(pthread_join(helper, nullptr) == 0);
}

int in_child(const Wanted& wanted) {
  const pid_t child = fork();
  check(child >= 0);
  if (child == 0) {
    bring_in_by_thread(wanted);
    in_main(0.3);
    std::exit(7);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

int main(int argc, char** argv) {
  check(argc >= 3);
  const std::string then = argc > 3 ? argv[3] : "";
  const Wanted wanted{argv[1], argv[2]};
  std::thread thread([] { in_thread(0.6); });
  std::thread blocking([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    in_blocking(0.6);
  });
  in_main(0.1);
  bring_in_by_thread(wanted);
  in_main(0.5);
  if (then == "again") bring_in_by_thread(wanted);
  thread.join();
  blocking.join();
  return then == "fork" ? in_child(wanted) : 3;
}
