// Waits that several programs know, and what a program says of one that did not go as it
// should. Included by one file of a program.
#pragma once
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

namespace waits {

inline void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s (errno %d)\n", what, errno);
  std::fflush(stdout);
  _exit(1);
}

inline int ends[2];  // of a pipe or a socket
inline void send_byte() { check(write(ends[1], "x", 1) == 1, "write"); }

struct Wait {
  std::function<void()> wait, wake;
};

constexpr timespec kMinute{60, 0};

inline void polls(bool precisely) {
  pollfd one{ends[0], POLLIN, 0};
  check((precisely ? ppoll(&one, 1, &kMinute, nullptr) : poll(&one, 1, 60'000)) == 1, "poll");
}

inline void selects(bool precisely) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  check((precisely ? pselect(ends[0] + 1, &set, nullptr, nullptr, &kMinute, nullptr)
                   : select(ends[0] + 1, &set, nullptr, nullptr, nullptr)) == 1,
        "select");
}

inline void epolls(bool masked) {
  const int set = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  sigset_t none;
  sigemptyset(&none);
  check(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) == 0, "epoll_ctl");
  check((masked ? epoll_pwait(set, &event, 1, -1, &none) : epoll_wait(set, &event, 1, -1)) == 1,
        "epoll_wait");
}

inline int set_of_one() {
  static const int set = semget(IPC_PRIVATE, 1, 0600);
  return set;
}
inline void waits_in_set() {
  sembuf down{0, -1, 0};
  const int result = semop(set_of_one(), &down, 1);
  semctl(set_of_one(), 0, IPC_RMID);
  check(result == 0, "semop");
}
inline void raise_set() {
  sembuf up{0, 1, 0};
  check(semop(set_of_one(), &up, 1) == 0, "semop");
}

inline sem_t posix;
inline void waits_in_futex() {
  timespec limit{};
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 60;
  check(sem_timedwait(&posix, &limit) == 0, "sem_timedwait");
}

// By the names of the calls; `others` as well.
inline std::map<std::string, Wait> with_common(std::map<std::string, Wait> others) {
  others.insert({{"semop", {waits_in_set, raise_set}},
                 {"futex", {waits_in_futex, [] { sem_post(&posix); }}},
                 {"poll", {[] { polls(false); }, send_byte}},
                 {"ppoll", {[] { polls(true); }, send_byte}},
                 {"select", {[] { selects(false); }, send_byte}},
                 {"pselect", {[] { selects(true); }, send_byte}},
                 {"epoll_wait", {[] { epolls(false); }, send_byte}},
                 {"epoll_pwait", {[] { epolls(true); }, send_byte}}});
  return others;
}

}  // namespace waits
