// The thread of an allocator's own: it blocks all signals and waits, and nothing on its stack is
// the program's.
#include <pthread.h>
#include <signal.h>

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

void* waits(void*) {
  pthread_mutex_lock(&lock);
  for (;;) pthread_cond_wait(&never, &lock);
}

[[gnu::constructor]] void begin() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  pthread_create(&thread, nullptr, waits, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
