// Makes threads in every way there is, which end in every way; each computes in a function of its
// own. A fork child makes one as well.
#include <pthread.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/targets/burn.h"

extern "C" int old_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
extern "C" int old_thrd_create(thrd_t*, thrd_start_t, void*);
asm(".symver old_pthread_create, pthread_create@GLIBC_2.2.5");
asm(".symver old_thrd_create, thrd_create@GLIBC_2.28");

namespace {

void check(bool right) {
  if (!right) std::exit(1);
}

[[gnu::noinline]] void* by_pthread(void* argument) {
  burn(0.25);
  return argument;
}
[[gnu::noinline]] void* by_old_pthread(void*) {
  burn(0.25);
  pthread_exit(reinterpret_cast<void*>(5));
}
[[gnu::noinline]] int by_c11(void*) {
  burn(0.25);
  return -7;
}
[[gnu::noinline]] int by_old_c11(void*) {
  burn(0.25);
  thrd_exit(8);
}
[[gnu::noinline]] void by_std() { burn(0.25); }
[[gnu::noinline]] void* cancelled(void*) {
  burn(0.25);
  for (;;) pause();
}

void* joined(pthread_t thread) {
  void* result = nullptr;
  check(pthread_join(thread, &result) == 0);
  return result;
}

void c11_threads() {
  thrd_t id;
  int result = 0;
  check(thrd_create(&id, by_c11, nullptr) == thrd_success);
  check(thrd_join(id, &result) == thrd_success && result == -7);
  check(old_thrd_create(&id, by_old_c11, nullptr) == thrd_success);
  check(thrd_join(id, &result) == thrd_success && result == 8);
}

void posix_threads() {
  pthread_t id;
  pthread_attr_t small;
  pthread_attr_init(&small);
  check(pthread_attr_setstacksize(&small, 32768) == 0);
  int here = 0;
  check(pthread_create(&id, &small, by_pthread, &here) == 0 && joined(id) == &here);
  check(old_pthread_create(&id, nullptr, by_old_pthread, nullptr) == 0);
  check(joined(id) == reinterpret_cast<void*>(5));
  check(pthread_create(&id, nullptr, cancelled, nullptr) == 0);
  check(pthread_cancel(id) == 0 && joined(id) == PTHREAD_CANCELED);
  pthread_attr_destroy(&small);
}

[[gnu::noinline]] void in_child() {
  burn(0.25);
  posix_threads();
}

}  // namespace

int main() {
  posix_threads();
  c11_threads();
  std::thread(by_std).join();
  const pid_t child = fork();
  check(child >= 0);
  if (child == 0) {
    in_child();
    std::exit(9);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9);
  return 0;
}
