// Threads that wait for each other for ever, and others that wait for something else. Calls
// `checkpoint` once all of them do, and ends. With an argument it says so in place of that, and
// waits.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#define KEPT [[gnu::noinline]]

pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t right_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t both_have_one;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
sem_t empty;
int pipe_ends[2];

extern "C" KEPT void checkpoint() { asm volatile(""); }

namespace {

KEPT void takes_both(pthread_mutex_t* one, pthread_mutex_t* other) {
  pthread_mutex_lock(one);
  pthread_barrier_wait(&both_have_one);
  pthread_mutex_lock(other);
  asm volatile("");
}

KEPT void takes_a_number() {
  sem_wait(&empty);
  asm volatile("");
}

KEPT void reads_table() {
  pthread_rwlock_rdlock(&table_lock);
  asm volatile("");
}

KEPT void waits_for_news() {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  pthread_cond_wait(&never, &lock);
  asm volatile("");
}

KEPT void reads_pipe() {
  char byte = 0;
  if (read(pipe_ends[0], &byte, 1) < 0) std::perror("read");
  asm volatile("");
}

KEPT void waits_for_all(std::vector<std::thread>& others) {
  for (std::thread& other : others) pthread_join(other.native_handle(), nullptr);
  asm volatile("");
}

bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  return line.find(") S ") != line.npos;
}

// A thread that was seen asleep twice, a while apart, waits for good.
KEPT void rests() {
  std::puts("all wait");
  std::fflush(stdout);
  pause();
  asm volatile("");
}

void watches(const std::vector<pid_t>& threads, bool is_to_rest) {
  for (int calm = 0; calm < 20;) {
    usleep(2000);
    ++calm;
    for (const pid_t thread : threads)
      if (!sleeps(thread)) calm = 0;
  }
  if (is_to_rest) rests();
  checkpoint();
  _exit(0);
}

}  // namespace

int main(int argc, char**) {
  pthread_barrier_init(&both_have_one, nullptr, 2);
  sem_init(&empty, 0, 0);
  if (pipe(pipe_ends) != 0) return 1;
  pthread_rwlock_wrlock(&table_lock);
  std::vector<std::thread> others;
  others.emplace_back(takes_both, &left_lock, &right_lock);
  others.emplace_back(takes_both, &right_lock, &left_lock);
  others.emplace_back(takes_a_number);
  others.emplace_back(reads_table);
  others.emplace_back(waits_for_news);
  others.emplace_back(reads_pipe);
  std::vector<pid_t> all{getpid()};
  for (std::thread& other : others) {
    clockid_t clock = 0;
    pthread_getcpuclockid(other.native_handle(), &clock);
    all.push_back(~(clock >> 3));
  }
  pthread_setname_np(others[2].native_handle(), "customer");
  std::thread watcher(watches, all, argc > 1);
  waits_for_all(others);
}
