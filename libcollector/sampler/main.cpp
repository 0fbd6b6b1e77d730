// The program gnomon-sampler, one for each recording: a process of its own, in a session of its
// own, that nobody but init waits for. It answers on its standard output: nothing, which experiment
// it writes alone, or why it does not run.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "libcollector/core/machine_time.h"
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

// See kProbe.
int probe(const char* pid, const char* settings) {
  using gnomon::outside::KernelClock;
  const auto values = gnomon::format::settings_in(settings);
  bool sees_kernel = false;
  std::string answer = gnomon::format::source_in(values) == gnomon::format::ClockSource::automatic
                           ? KernelClock::is_too_dear()
                           : "";
  if (answer.empty())
    answer = KernelClock::probe(static_cast<pid_t>(std::strtol(pid, nullptr, 10)),
                                values[gnomon::format::Setting::profile], sees_kernel);
  if (answer.empty() && !sees_kernel) answer = gnomon::format::kUserTime;
  std::fputs(answer.c_str(), stdout);
  return 0;
}

// What the two ways to be started have in common; directory: the experiment's, or "".
Wanted wanted_by(const char* directory, char** words) {
  Wanted wanted;
  wanted.directory = directory;
  wanted.pid = static_cast<pid_t>(std::strtol(words[0], nullptr, 10));
  wanted.session = std::strtoull(words[1], nullptr, 16);
  wanted.settings = gnomon::format::settings_in(words[2]);
  return wanted;
}

std::unique_ptr<Sampler> watch(char** words, std::string& answer) {
  Wanted wanted = wanted_by(words[0], words + 1);
  rank_like(wanted.pid);
  if (words[4]) wanted.counters = gnomon::format::counters_in(words[4]);
  auto sampler = Sampler::open(wanted, answer);
  if (!sampler) return nullptr;
  if (const std::string refusal = sampler->open_clock(); !refusal.empty())
    answer = gnomon::format::kClockRefused + refusal;
  return sampler;
}

// words: see kAlone.
std::unique_ptr<Sampler> record_alone(char** words, int count, std::string& answer) {
  Wanted wanted = wanted_by("", words);
  wanted.counters = gnomon::format::counters_in(words[7]);
  rank_like(wanted.pid);
  Alone alone{words[3], words[4], words[5] == std::string_view("1"), words[6], {}};
  for (int i = 8; i < count; ++i) alone.words.emplace_back(words[i]);
  auto sampler = Sampler::open_alone(wanted, alone, answer);
  if (sampler) answer = sampler->directory();
  return sampler;
}

}  // namespace

int main(int argc, char** argv) {
  gnomon::collector::adopt_machine_time();
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 4 && first == gnomon::format::kProbe) return probe(argv[2], argv[3]);
  const bool is_alone = argc >= 10 && first == gnomon::format::kAlone;
  if (argc != 5 && argc != 6 && !is_alone) {
    std::fprintf(stderr, "gnomon-sampler is started by Gnomon: see `gnomon help`.\n");
    return 2;
  }
  forget_signals();
  leave_family();
  std::string answer;
  const auto sampler =
      is_alone ? record_alone(argv + 2, argc - 2, answer) : watch(argv + 1, answer);
  std::printf("%s", answer.c_str());
  std::fflush(stdout);
  if (!sampler) return 1;
  close_output();
  sampler->run();
  _exit(0);  // the thread that forwards mail is still there
}
