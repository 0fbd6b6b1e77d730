// Waits in the call that its argument names while the collector's clock ticks for it again and
// again. Exit status 0 and "right": the call returned when and what it should; 1 and a word: it did
// not; 77: there is no such clock to be had.
#include <pthread.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "tests/targets/provoke_ticks.h"
#include "tests/targets/wait_kinds.h"

namespace {

using waits::check;
using waits::ends;
using waits::send_byte;
using waits::Wait;

constexpr int kTicks = 10;

pid_t waiter;

void receives() {
  const timeval limit{60, 0};
  check(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0, "setsockopt");
  char byte = 0;
  check(recv(ends[0], &byte, 1, 0) == 1 && byte == 'x', "recv");
}

void sleeps(bool says_rest) {
  timespec begin{}, end{}, time{1, 0};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  check(nanosleep(&time, says_rest ? &time : nullptr) == 0, "nanosleep");
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double slept = static_cast<double>(end.tv_sec - begin.tv_sec) +
                       static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9;
  check(slept > 0.999, "time slept");
}

void waits_for_signal() {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  check(sigtimedwait(&alarm, nullptr, &waits::kMinute) == SIGALRM, "sigtimedwait");
}
void send_alarm() { syscall(SYS_tgkill, getpid(), waiter, SIGALRM); }

struct Message {
  long type;
  char text[8];
};
int queue() {
  static const int made = msgget(IPC_PRIVATE, 0600);
  return made;
}
void waits_for_message() {
  Message message{};
  const ssize_t bytes = msgrcv(queue(), &message, sizeof message.text, 0, 0);
  msgctl(queue(), IPC_RMID, nullptr);
  check(bytes == 1, "msgrcv");
}
void send_message() {
  const Message message{1, "x"};
  check(msgsnd(queue(), &message, 1, 0) == 0, "msgsnd");
}

// The program's own interruption is not taken for the tick's that comes with it.
std::atomic<int> alarms = 0;
void interrupts() {
  for (int i = 0; i < kTicks; ++i) {
    while (alarms < i || !is_asleep(waiter)) usleep(100);
    send_alarm();
  }
}
void is_interrupted() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    tick_now(timer_of(waiter));  // pending until the handler returns
    ++alarms;
  };
  sigfillset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
  std::thread other(interrupts);
  for (int i = 1; i <= kTicks; ++i) check(pause() == -1 && errno == EINTR && alarms == i, "pause");
  other.join();
}

const std::map<std::string, Wait> kWaits = waits::with_common({
    {"recv", {receives, send_byte}},
    {"nanosleep", {[] { sleeps(true); }, [] {}}},
    {"usleep", {[] { sleeps(false); }, [] {}}},
    {"sigtimedwait", {waits_for_signal, send_alarm}},
    {"msgrcv", {waits_for_message, send_message}},
});

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc == 2 ? argv[1] : "";
  waiter = gettid();
  if (timer_of(waiter) < 0) return 77;
  check((name == "recv" ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) == 0, "pipe");
  if (name == "pause") {
    is_interrupted();
    std::puts("right");
    return 0;
  }
  check(kWaits.contains(name), "argument");
  const Wait& kind = kWaits.at(name);
  std::thread other([&] {
    check(provoke_ticks(waiter, kTicks), "ticks");
    kind.wake();
  });
  kind.wait();
  other.join();
  std::puts("right");
  return 0;
}
