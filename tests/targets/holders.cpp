// The main thread waits for locks that other threads hold while they sleep and wait for data. It
// ends at the end of its input.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#define KEPT [[gnu::noinline]]

namespace work {

std::mutex bed, mailbox;
std::atomic<int> held{0};
int pipe_ends[2];

KEPT void sleeps_with_it() {
  const std::lock_guard lock(bed);
  ++held;
  usleep(200'000);
  asm volatile("");
}

KEPT void reads_with_it() {
  const std::lock_guard lock(mailbox);
  ++held;
  char byte = 0;
  if (read(pipe_ends[0], &byte, 1) < 0) _exit(1);
  asm volatile("");
}

// The thread is there when gnomon-sampler looks for names.
void then_stays(void (*work)()) {
  work();
  pause();
}

KEPT void writes_late() {
  usleep(400'000);
  if (write(pipe_ends[1], "x", 1) < 0) _exit(1);
  asm volatile("");
}

KEPT void wants_bed() {
  const std::lock_guard lock(bed);
  asm volatile("");
}

KEPT void wants_mailbox() {
  const std::lock_guard lock(mailbox);
  asm volatile("");
}

}  // namespace work

int main() {
  if (pipe(work::pipe_ends) != 0) return 1;
  std::thread sleeper(work::then_stays, work::sleeps_with_it);
  std::thread reader(work::then_stays, work::reads_with_it);
  pthread_setname_np(sleeper.native_handle(), "sleeper");
  pthread_setname_np(reader.native_handle(), "reader");
  while (work::held != 2) sched_yield();
  std::thread writer(work::writes_late);
  work::wants_bed();
  work::wants_mailbox();
  writer.join();
  std::getchar();
  std::exit(0);  // the others wait
}
