// gnomon-sampler, the process beside a recording: starting it and asking it for something. Any
// thread.
#include "injector/base/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "injector/attach/remote/remote_process.h"
#include "injector/base/log.h"
#include "libcollector/format/names.h"
#include "reader/base/clock.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kAnswerTime{1000};
constexpr milliseconds kBusyTime{5000};  // for one that is at work on a busy machine

// What a program writes until it closes its output; a fault: it has not closed it in time.
Result<std::string> answer_from(int pipe, const std::string& program) {
  const auto limit = Clock::now() + 2 * kAnswerTime;
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(limit - Clock::now()).count();
    pollfd event{pipe, POLLIN, 0};
    if (left <= 0 || poll(&event, 1, static_cast<int>(left)) == 0)
      return fault(program + " does not answer");
    char piece[512];
    const ssize_t n = read(pipe, piece, sizeof piece);
    if (n == 0) return text;
    if (n > 0) text.append(piece, static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) return fault(program + " does not answer");
  }
}

// By vfork, so that neither a debugger's memory is copied nor its locks matter.
int spawn(const std::string& program, char* const* words, int output, pid_t& child) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  char* const none[] = {nullptr};
  const int error = posix_spawn(&child, program.c_str(), &files, nullptr, words, none);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// Makes the mailbox this caller's and returns the odd number, as soon as the request before is
// carried out. Takes over what a requester or a sampler that has died left behind.
std::uint32_t take_mailbox(format::Mailbox& box) {
  const std::atomic_ref sequence(box.sequence);
  const auto limit = Clock::now() + kAnswerTime / 4;
  for (;; std::this_thread::sleep_for(milliseconds(1))) {
    std::uint32_t number = sequence.load();
    const bool is_free = number % 2 == 0 && std::atomic_ref(box.answered).load() == number;
    const std::uint32_t mine = number + 1 + number % 2;
    if ((is_free || Clock::now() > limit) && sequence.compare_exchange_strong(number, mine))
      return mine;
  }
}

// gnomon-sampler of a program that has just been started may not be there yet.
void await_sampler(format::ControlPage& page) {
  constexpr std::uint64_t kStart = 1'000'000'000, kStartUp = 300'000'000;  // ns
  const std::uint64_t begin = monotonic_now();
  if (page.start_time + kStart < begin) return;
  while (std::atomic_ref(page.sampler_time).load() == 0 && monotonic_now() < begin + kStartUp)
    std::this_thread::sleep_for(milliseconds(1));
}

constexpr auto word(format::Ask ask) { return static_cast<std::uint32_t>(ask); }

}  // namespace

Result<std::string> run_sampler(const Settings& settings, std::vector<std::string> words) {
  return run_beside(std::filesystem::path(settings.library).parent_path(), "gnomon-sampler",
                    std::move(words));
}

Result<std::string> run_beside(const std::string& folder, const std::string& name,
                               std::vector<std::string> words) {
  const std::string program = (std::filesystem::path(folder) / name).string();
  words.insert(words.begin(), name);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fault("there are too many open files");
  pid_t child = -1;
  const int error = spawn(program, pointers.data(), ends[1], child);
  close(ends[1]);
  Result<std::string> answer;
  if (error != 0)
    answer = fault(fmt::format("{} cannot be started: {}", program, std::strerror(error)));
  else
    answer = answer_from(ends[0], name);
  close(ends[0]);
  int status = 0;
  if (error == 0 && !answer) kill(child, SIGKILL);  // or it is waited for without limit
  if (error == 0)
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  return answer;
}

std::string note_experiment(const Settings& settings, const std::string& experiment) {
  std::string failed;
  if (auto written = write_notes(experiment, settings.notes); !written)
    failed += sentence(written.error()) + "\n";
  if (!settings.group.empty())
    if (auto joined = join_group(settings.group, experiment); !joined)
      failed += sentence(joined.error()) + "\n";
  return failed;
}

// Returns why gnomon-sampler is not the clock, though it was to be; "": nothing is to be said.
// Fault: samples are missing from the experiment.
static Result<std::string> start_sampler(const Settings& settings, const std::string& experiment,
                                         pid_t pid) {
  std::vector<std::string> words{experiment, std::to_string(pid),
                                 fmt::format("{:x}", settings.session),
                                 format::settings_text(settings.values).text};
  if (!settings.counters.empty()) words.push_back(settings.counters);
  auto answer = run_sampler(settings, std::move(words));
  if (!answer) return answer;
  if (answer->starts_with(format::kClockRefused))
    return answer->substr(std::strlen(format::kClockRefused));
  if (!answer->empty()) return fault(*answer);
  return "";
}

std::string follow_recording(const Settings& settings, const std::string& experiment, pid_t pid,
                             OtherClock other) {
  std::string failed = note_experiment(settings, experiment);
  if (auto started = start_sampler(settings, experiment, pid); !started) {
    failed += fmt::format("Samples of the process's use of the system are missing: {}.\n",
                          started.error().what);
  } else if (!started->empty()) {
    const ClockChoice choice = refused_clock(settings, *started, other);
    failed += choice.said;
    note_clock(settings, pid, choice.reason);
  }
  return failed;
}

// said: takes the answer; null: nothing does.
static bool ask(format::ControlPage& page, format::Verb verb, format::SampleEvent event,
                std::string_view label, std::string* said) {
  constexpr std::uint64_t kBeat = 3'000'000'000;  // ns; it shows itself each second
  await_sampler(page);
  if (std::atomic_ref(page.sampler_time).load() + kBeat < monotonic_now()) return false;
  format::Mailbox& box = page.mailbox;
  const std::uint32_t number = take_mailbox(box) + 1;
  box.verb = static_cast<std::uint32_t>(verb);
  box.event = static_cast<std::uint32_t>(event);
  const std::size_t length = std::min(label.size(), sizeof box.label - 1);
  std::memcpy(box.label, label.data(), length);
  box.label[length] = 0;
  std::atomic_ref(box.sequence).store(number);
  syscall(SYS_futex, &box.sequence, FUTEX_WAKE, 1'000'000, nullptr, nullptr, 0);
  const auto begun = Clock::now();
  auto limit = begun + kAnswerTime;
  for (;;) {
    const std::uint32_t answered = std::atomic_ref(box.answered).load();
    if (answered == number) {
      if (said) said->assign(page.answer, strnlen(page.answer, sizeof page.answer));
      return true;
    }
    // The mailbox was taken over.
    if (std::atomic_ref(box.sequence).load() != number)
      return !said && std::atomic_ref(box.answered).load() == number;
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(limit - Clock::now());
    if (left.count() <= 0) {
      if (limit >= begun + kBusyTime || !sampler_trouble(page).empty()) return false;
      limit += kAnswerTime;
    }
    const timespec rest{0, std::clamp<long>(left.count(), 1, 50'000'000)};
    syscall(SYS_futex, &box.answered, FUTEX_WAIT, answered, &rest, nullptr, 0);
  }
}

bool ask_for_sample(format::ControlPage& page, format::Verb verb, format::SampleEvent event,
                    std::string_view label) {
  return ask(page, verb, event, label, nullptr);
}

static Result<format::WatchBegun> ask_about_watch(format::ControlPage& page, format::Verb verb,
                                                  std::string_view text) {
  std::string said;
  if (!ask(page, verb, format::SampleEvent::manual, text, &said))
    return fault("gnomon-sampler does not answer", "`collector header` says since when");
  const format::WatchBegun begun = format::watch_begun_in(said);
  if (begun.number == 0) return fault(said);
  return begun;
}

Result<format::WatchBegun> ask_to_watch(format::ControlPage& page, const format::Watch& watch) {
  return ask_about_watch(page, format::Verb::watch,
                         format::watch_text(watch, format::kLabelBytes - 1));
}

Result<void> ask_to_unwatch(format::ControlPage& page, std::uint32_t number) {
  const auto said = ask_about_watch(page, format::Verb::unwatch, std::to_string(number));
  return said ? Result<void>() : tl::unexpected(said.error());
}

// proc_pid_stat(5): the state is the first letter behind the name, which ends at the last bracket.
std::string sampler_trouble(const format::ControlPage& page) {
  const auto pid = std::atomic_ref(const_cast<std::uint32_t&>(page.sampler)).load();
  const std::string stat = proc_text(static_cast<pid_t>(pid), "stat");
  const std::size_t name = stat.rfind(')');
  const char state = name == std::string::npos || name + 2 >= stat.size() ? 'X' : stat[name + 2];
  if (pid == 0) return "it has ended";
  if (state == 'X' || state == 'Z') return "it was killed";
  if (state == 'T' || state == 't') return "it is stopped";
  return "";
}

bool record_rings(format::ControlPage& page) {
  const bool is_joined = std::atomic_ref(page.writers).load() > 1;  // by gnomon-sampler
  return (!is_joined && !format::is_from_outside(std::atomic_ref(page.clock).load())) ||
         ask_for_sample(page, format::Verb::record, format::SampleEvent::manual);
}

Result<bool> pause(const std::string& experiment, format::ControlPage& page) {
  const std::atomic_ref asked(page.asked);
  std::uint32_t was = asked.load();
  // A pause that somebody asks for during the delay outlasts it.
  auto during_delay = static_cast<std::uint32_t>(format::PauseReason::delay);
  std::atomic_ref(page.pause_reason)
      .compare_exchange_strong(during_delay,
                               static_cast<std::uint32_t>(format::PauseReason::asked));
  if (was == word(format::Ask::pause) || was == word(format::Ask::end)) return false;
  ask_for_sample(page, format::Verb::sample, format::SampleEvent::pause);
  std::atomic_ref(page.pause_reason).store(static_cast<std::uint32_t>(format::PauseReason::asked));
  while (!asked.compare_exchange_weak(was, word(format::Ask::pause)))
    if (was == word(format::Ask::end) || was == word(format::Ask::pause)) return false;
  if (auto written = write_log(experiment, page, format::kLogPause); !written)
    return tl::unexpected(written.error());
  return true;
}

Result<bool> resume(const std::string& experiment, format::ControlPage& page) {
  constexpr auto kForGood = static_cast<std::uint32_t>(format::PauseReason::size_limit);
  std::uint32_t was = word(format::Ask::pause);
  if (std::atomic_ref(page.pause_reason).load() == kForGood ||
      !std::atomic_ref(page.asked).compare_exchange_strong(was, word(format::Ask::record)))
    return false;
  const auto written = write_log(experiment, page, format::kLogResume);
  ask_for_sample(page, format::Verb::sample, format::SampleEvent::resume);
  if (!written) return tl::unexpected(written.error());
  return true;
}

}  // namespace gnomon::injector
