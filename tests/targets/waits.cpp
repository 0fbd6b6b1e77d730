// Waits once in the system call that its first argument names, while a thread computes (for so many
// seconds of CPU time as the second one says, or 1), which then ends the wait. Exit status 0: the
// call returned when and what it should; 1 and a word: it did not.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "tests/targets/burn.h"
#include "tests/targets/longest_gap.h"
#include "tests/targets/wait_kinds.h"

namespace {

using waits::check;
using waits::ends;
using waits::send_byte;
using waits::Wait;

double work = 1.0;  // s of CPU time

pthread_t waiter;

[[gnu::noipa]] std::uint64_t part(std::uint64_t sum) {
  for (int i = 0; i < 1'000'000; ++i) sum = sum * 6364136223846793005ull + 1442695040888963407ull;
  return sum;
}

[[gnu::noipa]] std::uint64_t computes() {
  std::uint64_t sum = 1;
  LongestGap gap;
  for (const double end = cpu_time() + work; cpu_time() < end; gap.look()) sum = part(sum);
  gap.say();
  return sum;
}

void send_signal() { pthread_kill(waiter, SIGALRM); }

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

timespec seconds(double value) {
  const auto whole = static_cast<time_t>(value);
  return {whole, static_cast<long>((value - static_cast<double>(whole)) * 1e9)};
}

void sleeps(bool absolute) {
  const double begin = now();
  const timespec time = seconds(absolute ? begin + 2 : 2);
  if (absolute)
    check(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == 0, "clock_nanosleep");
  else
    check(nanosleep(&time, nullptr) == 0, "nanosleep");
  const double slept = now() - begin;
  check(slept > 1.999 && slept < 20, "time slept");
}

void reads() {
  char byte = 0;
  check(read(ends[0], &byte, 1) == 1 && byte == 'x', "read");
}

void receives() {
  char byte = 0;
  check(recv(ends[0], &byte, 1, 0) == 1 && byte == 'x', "recv");
}

sockaddr_un address;
socklen_t address_size;
void accepts() {
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  const auto name = reinterpret_cast<sockaddr*>(&address);
  address.sun_family = AF_UNIX;
  address_size = sizeof address.sun_family;  // the kernel chooses the rest
  check(bind(server, name, address_size) == 0, "bind");
  address_size = sizeof address;
  check(getsockname(server, name, &address_size) == 0, "getsockname");
  check(listen(server, 1) == 0, "listen");
  check(accept(server, nullptr, nullptr) >= 0, "accept");
}
void connects() {
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  check(connect(client, reinterpret_cast<sockaddr*>(&address), address_size) == 0, "connect");
}

std::atomic<int> handled = 0;
void count_alarm() {
  struct sigaction action {};
  action.sa_handler = [](int) { ++handled; };
  sigaction(SIGALRM, &action, nullptr);
}
void pauses() {
  count_alarm();
  // A program with handlers may get EINTR of a tick, too.
  int result = 0;
  do result = pause();
  while (result == -1 && errno == EINTR && handled == 0);
  check(result == -1 && errno == EINTR && handled == 1, "pause");
}

void waits_for_signal() {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  const timespec limit = seconds(60);
  check(sigtimedwait(&alarm, nullptr, &limit) == SIGALRM, "sigtimedwait");
}

// The signal is blocked but in the call.
void suspends() {
  sigset_t alarm, before;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  count_alarm();
  pthread_sigmask(SIG_BLOCK, &alarm, &before);
  int result = 0;
  do result = sigsuspend(&before);
  while (result == -1 && errno == EINTR && handled == 0);
  sigset_t after;
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  check(result == -1 && errno == EINTR && handled == 1 && sigismember(&after, SIGALRM) == 1,
        "sigsuspend");
}

// A lock of another description of the same file.
int holder = -1;
void locks() {
  char name[] = "/tmp/gnomon.lock.XXXXXX";
  holder = mkostemp(name, O_CLOEXEC);
  const int other = open(name, O_RDWR | O_CLOEXEC);
  unlink(name);
  check(other >= 0 && flock(holder, LOCK_EX) == 0 && flock(other, LOCK_EX) == 0, "flock");
}

pid_t child = -1;
void waits_for_child() {
  child = fork();
  if (child == 0) pause();
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM,
        "waitpid");
}
void end_child() {
  if (child > 0) kill(child, SIGTERM);
}

bool has_debugger() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("TracerPid:")) return !line.ends_with("\t0");
  return false;
}

// Another thread waits, in which the collector can come in. Once a debugger holds the process, this
// one is stopped in its last sleep until it is continued.
void sleep_beside_another() {
  std::thread([] { poll(nullptr, 0, -1); }).detach();
  for (int i = 0; i < 6000 && !has_debugger(); ++i) usleep(10'000);
  usleep(300'000);
}

void catches() {
  struct sigaction action {};
  action.sa_handler = [](int) { ++handled; };
  sigaction(SIGUSR1, &action, nullptr);
  sleep_beside_another();
  raise(SIGUSR1);
  check(handled == 1, "handled once");
}

void crashes() {
  sleep_beside_another();
  *const_cast<volatile int*>(static_cast<int*>(nullptr)) = 1;
}

const std::map<std::string, Wait> kWaits = waits::with_common({
    {"caught", {catches, [] {}}},
    {"crash", {crashes, [] {}}},
    {"nanosleep", {[] { sleeps(false); }, [] {}}},
    {"clock_nanosleep", {[] { sleeps(true); }, [] {}}},
    {"read", {reads, send_byte}},
    {"recv", {receives, send_byte}},
    {"accept", {accepts, connects}},
    {"pause", {pauses, send_signal}},
    {"flock", {locks, [] { flock(holder, LOCK_UN); }}},
    {"waitpid", {waits_for_child, end_child}},
    {"sigsuspend", {suspends, send_signal}},
    {"sigtimedwait", {waits_for_signal, send_signal}},
});

}  // namespace

int main(int argc, char** argv) {
  check(argc >= 2 && kWaits.contains(argv[1]), "argument");
  if (argc > 2) work = std::strtod(argv[2], nullptr);
  const Wait& kind = kWaits.at(argv[1]);
  const bool socket = std::string(argv[1]) == "recv";
  check((socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) == 0, "pipe");
  waiter = pthread_self();
  std::thread worker([&] {
    computes();
    kind.wake();
  });
  std::printf("%d waits\n", getpid());
  std::fflush(stdout);
  kind.wait();
  worker.join();
  std::puts("right");
  return 0;
}
