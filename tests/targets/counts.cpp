// Counts the signals SIGUSR1 and SIGALRM until its input ends, which it looks for while it
// computes, or waits for with "waits". Prints its number, and both counts at the end.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace {

volatile sig_atomic_t users = 0, alarms = 0;
volatile std::uint64_t sum = 1;

bool input_is_over() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) == 1;
}

}  // namespace

int main(int argc, char**) {
  signal(SIGUSR1, [](int) { users = users + 1; });
  signal(SIGALRM, [](int) { alarms = alarms + 1; });
  std::printf("%d\n", getpid());
  std::fflush(stdout);
  constexpr int kTurns = 10'000'000;  // a debugger that stops it finds it here, not in poll
  char byte = 0;
  if (argc > 1)
    return read(STDIN_FILENO, &byte, 1) == 0 && std::printf("%d %d\n", users, alarms) > 0 ? 0 : 1;
  while (!input_is_over())
    for (int i = 0; i < kTurns; ++i) sum = sum * 6364136223846793005ull + 1;
  std::printf("%d %d\n", users, alarms);
  return 0;
}
