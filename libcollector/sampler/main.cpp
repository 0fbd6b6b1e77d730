// The program gnomon-sampler, one for each recording: a process of its own, in a session of its
// own, that nobody but init waits for. It answers on its standard output: nothing, or why it does
// not run.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "libcollector/format/names.h"
#include "libcollector/sampler/rank.h"
#include "libcollector/sampler/sampler.h"

namespace {

using namespace gnomon::sampler;

// The handlers, ignored signals and the mask of whoever started this program mean nothing here; a
// terminal's hangup must not end it.
void forget_signals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  signal(SIGHUP, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Returns in a child of a child of the program that was started, which ends. So the recorded
// program cannot wait for this process, nor can its debugger.
void leave_family() {
  close_range(STDERR_FILENO + 1, ~0u, 0);
  setsid();
  if (const pid_t child = fork(); child != 0) _exit(child < 0 ? 1 : 0);
  // So that no file system is kept from being unmounted; if it fails nothing else is lost.
  [[maybe_unused]] const int moved = chdir("/");
}

// Whoever started this program reads the end of the pipe.
void close_output() {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, number);
  if (nothing > STDERR_FILENO) close(nothing);
}

// Says why the kernel would not be the clock of a process; nothing: it would.
int probe(const char* pid, const char* period) {
  std::fputs(gnomon::outside::KernelClock::probe(static_cast<pid_t>(std::strtol(pid, nullptr, 10)),
                                                 std::strtoull(period, nullptr, 10))
                 .c_str(),
             stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && argv[1] == std::string_view(gnomon::format::kProbe))
    return probe(argv[2], argv[3]);
  if (argc != 5) {
    std::fprintf(stderr, "gnomon-sampler is started by Gnomon: see `gnomon help`.\n");
    return 2;
  }
  forget_signals();
  leave_family();
  Wanted wanted;
  wanted.directory = argv[1];
  wanted.pid = static_cast<pid_t>(std::strtol(argv[2], nullptr, 10));
  wanted.session = std::strtoull(argv[3], nullptr, 16);
  wanted.settings = gnomon::format::settings_in(argv[4]);
  rank_like(wanted.pid);
  std::string fault;
  const auto sampler = Sampler::open(wanted, fault);
  if (!sampler) {
    std::printf("%s", fault.c_str());
    return 1;
  }
  if (const std::string refusal = sampler->open_clock(); !refusal.empty())
    std::printf("%s%s", gnomon::format::kClockRefused, refusal.c_str());
  std::fflush(stdout);
  close_output();
  sampler->run();
  _exit(0);  // the thread that forwards mail is still there
}
