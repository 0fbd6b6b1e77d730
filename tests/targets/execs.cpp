// Executes itself again and again, from a thread that is not its first, until its standard input
// ends. Exit status 0 and "right": what it computed between was what it should be.
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

namespace {

[[gnu::noipa]] std::uint64_t computes(std::uint64_t sum) {
  for (int i = 0; i < 50'000; ++i) sum = sum * 6364136223846793005ull + 1442695040888963407ull;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    std::printf("%d is busy\n", getpid());
    std::fflush(stdout);
  }
  const std::uint64_t expected = computes(1);
  std::atomic<bool> over = false;
  std::thread other([&] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    usleep(static_cast<useconds_t>(now.tv_nsec % 10'000));
    char again[] = "again";
    char* const words[] = {argv[0], again, nullptr};
    if (!over) execv("/proc/self/exe", words);
  });
  bool is_right = true;
  for (pollfd input{STDIN_FILENO, POLLIN, 0}; poll(&input, 1, 0) <= 0;)
    is_right = is_right && computes(1) == expected;
  over = true;
  // It may execute itself once more, which finds the input at its end, too.
  other.join();
  std::puts(is_right ? "right" : "wrong: checksum");
  return is_right ? 0 : 1;
}
