// Makes the collector's clock of a thread tick while that waits: its timer is set to a time that is
// past.
#pragma once
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

inline std::string text_of(const char* path) {
  std::string text;
  char piece[4096];
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  for (ssize_t n = 0; file >= 0 && (n = read(file, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(n));
  if (file >= 0) close(file);
  return text;
}

// proc_pid_timers(5): the one that sends SIGPROF to this thread; -1: it has none.
inline int timer_of(pid_t tid) {
  const std::string text = text_of("/proc/self/timers");
  const std::size_t thread = text.find("signal/tid." + std::to_string(tid) + "\n");
  const std::size_t entry = thread == std::string::npos ? thread : text.rfind("ID: ", thread);
  return entry == std::string::npos ? -1 : std::atoi(text.c_str() + entry + 4);
}

inline bool tick_now(int timer) {
  const itimerspec past{{0, 50'000'000}, {0, 1}};
  return syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &past, nullptr) == 0;
}

inline bool is_asleep(pid_t tid) {
  const std::string text = text_of(("/proc/self/task/" + std::to_string(tid) + "/stat").c_str());
  const std::size_t state = text.rfind(") ");
  return state != std::string::npos && text[state + 2] == 'S';
}

inline long sleeps_of(pid_t tid) {
  const std::string text = text_of(("/proc/self/task/" + std::to_string(tid) + "/status").c_str());
  const std::size_t at = text.find("\nvoluntary_ctxt_switches:");
  return at == std::string::npos ? -1 : std::atol(text.c_str() + text.find('\t', at));
}

// So many, each in a wait of its own. False: that was not to be had in ten seconds.
inline bool provoke_ticks(pid_t tid, int times) {
  constexpr int kLooks = 100'000;
  constexpr timespec kPause{0, 100'000};
  const int timer = timer_of(tid);
  for (int look = 0; times > 0 && look < kLooks; ++look, nanosleep(&kPause, nullptr)) {
    if (!is_asleep(tid)) continue;
    const long before = sleeps_of(tid);
    if (!tick_now(timer)) return false;
    for (; look < kLooks && sleeps_of(tid) == before; ++look) nanosleep(&kPause, nullptr);
    --times;
  }
  return times == 0;
}
