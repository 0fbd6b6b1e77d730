// Settings of a recording: one row each, and the one text in which they travel: to the program that
// is launched or attached to, to gnomon-sampler, and into header.json.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gnomon::format {

enum class Setting : std::uint8_t {
  profile,
  sample_period,
  size_limit,
  delay,
  duration,
  paused,
  pause_signal,
  sample_signal,
  hold,
  number,
  depth,
  heaptrace,
  synctrace,
  iotrace,
  source,
  verify,
  chosen_source,
  waits,
};
// What a setting's number means. interval: ns of a thread's CPU time, 0 is off. time: ns, 0 is off.
// size: bytes, 0 is unlimited. flag: 0 or 1. signal: its number, 0 is none. count: as it is.
// heap: bits, see kHeapOn. source: ClockSource.
enum class SettingType : std::uint8_t {
  interval,
  time,
  size,
  flag,
  signal,
  count,
  heap,
  sync,
  source,
};
// Who is to take the clock's samples: the kernel, for gnomon-sampler, or the program's threads in a
// signal handler.
// hybrid: the kernel's clock; where that sees user time alone, signals show which system calls the
// time in the kernel goes to. automatic: the kernel's or hybrid where that can be, else signals.
enum class ClockSource : std::uint64_t { automatic = 0, kernel = 1, signal = 2, hybrid = 3 };
inline constexpr std::array<std::string_view, 4> kClockSources{"auto", "kernel", "signal",
                                                               "hybrid"};
// Of SettingType::heap; 0 is off.
inline constexpr std::uint64_t kHeapOn = 1, kFreeStacks = 2;
// Above: bytes between two samples on average; 0: every allocation is recorded.
inline constexpr unsigned kHeapMeanShift = 8;
// Of SettingType::sync; 0 is off, else 2 + the shortest wait to be recorded, ns.
inline constexpr std::uint64_t kSyncCalibrate = 1, kSyncAll = 2;
constexpr std::uint64_t sync_threshold(std::uint64_t sync) { return sync - kSyncAll; }
constexpr std::uint64_t heap_mean(std::uint64_t heap) { return heap >> kHeapMeanShift; }

// least, most: of a value that is not 0. name: in the header and in `collector show`. command: what
// sets it in LLDB, empty: nothing does. option, long_option, operand: of `gnomon collect`,
// likewise.
struct SettingRow {
  Setting setting;
  std::string_view key;  // in the text
  std::string_view name;
  SettingType type;
  std::uint64_t least, most, initial;
  std::string_view command, option, long_option, operand;
  std::string_view sentence;
  std::string_view summary = {};  // of a command in LLDB that sets nothing else; empty: none does
};

inline constexpr std::uint64_t kSecond = 1'000'000'000, kMegabyte = 1'000'000;
// Primes, so that no program of a regular period keeps step with the clock.
inline constexpr std::uint64_t kNormalInterval = 10'007'000, kHighInterval = 997'000,
                               kLowInterval = 100'003'000;  // ns

inline constexpr std::array kSettings{
    SettingRow{Setting::profile, "p", "profile", SettingType::interval, 100'000, kSecond,
               kNormalInterval, "profile on|off|timer on|hi|lo|TIME", "-p", "--profile",
               "on|off|hi|lo|TIME",
               "The clock's interval, in CPU time of each thread: on is 10.007 ms, hi 0.997 ms, lo "
               "100.003 ms, TIME a number of milliseconds or, such as 500u, of microseconds."},
    SettingRow{Setting::sample_period, "S", "sample period", SettingType::time, kSecond / 10,
               3600 * kSecond, kSecond, "sample period SECONDS", "-S", "--sample", "on|off|SECONDS",
               "The time between periodic samples of the process's use of the system; on is a "
               "second."},
    SettingRow{Setting::size_limit, "L", "limit", SettingType::size, kMegabyte,
               1'000'000 * kMegabyte, 0, "limit MEGABYTES", "-L", "--limit", "MEGABYTES|unlimited",
               "Once the experiment has so many megabytes of events, no more are recorded; samples "
               "are.",
               "Limit the size of an experiment."},
    SettingRow{Setting::delay, "a", "delay", SettingType::time, kSecond / 1000, 1'000'000 * kSecond,
               0, "", "", "", "",
               "Events are recorded from so long after the beginning; see duration."},
    SettingRow{Setting::duration, "t", "duration", SettingType::time, kSecond / 1000,
               1'000'000 * kSecond, 0, "duration TIME", "-t", "--time", "TIME|FROM-TO",
               "The recording ends after that time; the program runs on. FROM-TO: events are "
               "recorded from FROM to TO; a TO of 0 is the program's end. In seconds, or with m in "
               "minutes.",
               "Limit the time of a recording."},
    SettingRow{Setting::paused, "P", "paused", SettingType::flag, 0, 1, 0, "", "", "", "",
               "Events are recorded from the first `resume` on."},
    SettingRow{Setting::pause_signal, "y", "pause signal", SettingType::signal, 1, 64, 0, "", "-y",
               "--pause-signal", "SIGNAL[,r]",
               "Each delivery of the signal pauses the recording of events, or resumes it. It is "
               "paused at first unless ,r is given."},
    SettingRow{Setting::sample_signal, "l", "sample signal", SettingType::signal, 1, 64, 0, "",
               "-l", "--sample-signal", "SIGNAL", "Each delivery of the signal takes a sample."},
    SettingRow{Setting::hold, "h", "hold", SettingType::time, 1, 60 * kSecond, 0, "", "", "", "",
               "A launched program waits at most so long for the answer to its collector."},
    SettingRow{Setting::number, "n", "number", SettingType::count, 0, 999'999, 1, "", "", "", "",
               "The first N that is tried in NAME.N.er. 0: NAME.er is tried before."},
    SettingRow{Setting::depth, "d", "depth", SettingType::count, 16, 16384, 1024, "depth FRAMES",
               "-D", "--depth", "FRAMES",
               "The most frames that are recorded of a call stack, from the innermost.",
               "Limit the depth of call stacks."},
    SettingRow{Setting::heaptrace, "H", "heaptrace", SettingType::heap, kHeapOn, 1ull << 48, 0,
               "heaptrace on[,SIZE][,free-stacks]|off|free-only", "-H", "--heap",
               "on[,SIZE][,free-stacks]|off",
               "Each call that allocates or frees memory is recorded, an allocation with its call "
               "stack; with free-stacks, a free as well. With a SIZE such as 512k, one allocation "
               "in so many bytes is recorded, which costs little: reports then show estimates. In "
               "the debugger `free-only` has the recording that is "
               "under way go on without allocations, so that what is freed late leaves the list of "
               "leaks."},
    SettingRow{Setting::synctrace, "T", "synctrace", SettingType::sync, kSyncCalibrate,
               kSyncAll + 1'000'000'000, 0, "synctrace on|off|threshold calibrate|all|MICROSECONDS",
               "-s", "--sync", "on|calibrate|off|all|MICROSECONDS",
               "Each call that waits for another thread is recorded, with its call stack, if the "
               "wait is at least so long: `calibrate`, which is what `on` means, is six times what "
               "an uncontended call takes; `all` records every call, whether it waits or not."},
    SettingRow{Setting::iotrace, "I", "iotrace", SettingType::flag, 0, 1, 0, "iotrace on|off", "-i",
               "--io", "on|off",
               "Each call that reads, writes, opens, closes or waits for files and sockets is "
               "recorded, with its call stack; calls of stdio as far as they did I/O.",
               "Trace I/O."},
    SettingRow{Setting::source, "c", "profile source", SettingType::source, 1, 3, 0,
               "profile source auto|kernel|hybrid|signal", "-k", "--clock",
               "auto|kernel|hybrid|signal",
               "Who samples by the clock: kernel is the kernel itself, whose samples a process "
               "beside the program reads, so that the program gets no signals and a debugger no "
               "stops; signal is a SIGPROF in each thread; hybrid is kernel, and where this user "
               "may not see time in the kernel a SIGPROF each 10 ms of CPU time, which shows the "
               "system calls. auto is kernel or hybrid where that can be, else signal; `collector "
               "status` says which, and why."},
    SettingRow{Setting::verify, "V", "verify", SettingType::flag, 0, 1, 0, "", "", "", "",
               "For tests: the call stack of each traced call is walked a second time without "
               "what was kept of earlier ones; those that differ are counted."},
    SettingRow{Setting::chosen_source, "k", "chosen source", SettingType::source, 0, 3, 0, "", "",
               "", "",
               "What `profile source` has come to where that is known before the recording; 0: it "
               "is not."},
    SettingRow{
        Setting::waits, "w", "profile waits", SettingType::flag, 0, 1, 0, "profile waits on|off",
        "-w", "--waits", "on|off",
        "Where this user may not see what threads wait for in the kernel, the program's calls "
        "that wait are timed, and those of a millisecond or more tell it: sleep, poll, read, "
        "locks and the like."},
};
inline constexpr std::size_t kSettingCount = kSettings.size();
static_assert([] {
  for (std::size_t i = 0; i < kSettings.size(); ++i)
    if (static_cast<std::size_t>(kSettings[i].setting) != i) return false;
  return true;
}());

constexpr const SettingRow& row(Setting setting) {
  return kSettings[static_cast<std::size_t>(setting)];
}

// A value for each row.
class SettingValues {
 public:
  constexpr SettingValues() {
    for (const SettingRow& each : kSettings) (*this)[each.setting] = each.initial;
  }
  constexpr std::uint64_t& operator[](Setting setting) {
    return values_[static_cast<std::size_t>(setting)];
  }
  constexpr std::uint64_t operator[](Setting setting) const {
    return values_[static_cast<std::size_t>(setting)];
  }

 private:
  std::array<std::uint64_t, kSettingCount> values_{};
};

// Who is to take the clock's samples, as far as that is known.
constexpr ClockSource source_in(const SettingValues& values) {
  const std::uint64_t chosen = values[Setting::chosen_source];
  return static_cast<ClockSource>(chosen != 0 ? chosen : values[Setting::source]);
}
// Returns true if the kernel is to be the clock, or may become it.
constexpr bool may_be_kernels(const SettingValues& values) {
  return values[Setting::profile] != 0 && source_in(values) != ClockSource::signal;
}

// CPU time between two ticks of a thread that show its system calls, ns.
constexpr std::uint64_t place_interval(const SettingValues& values) {
  return values[Setting::profile] > kNormalInterval ? values[Setting::profile] : kNormalInterval;
}

inline constexpr std::size_t kSettingsBytes = 2032;  // of the text, with a final 0
struct SettingsText {
  char text[kSettingsBytes];
};

// "p=10007000;S=1000000000;...": every row, in decimal.
constexpr SettingsText settings_text(const SettingValues& values) {
  SettingsText to{};
  std::size_t at = 0;
  for (const SettingRow& each : kSettings) {
    for (const char c : each.key) to.text[at++] = c;
    to.text[at++] = '=';
    char digits[20];
    std::size_t count = 0;
    for (std::uint64_t rest = values[each.setting]; rest != 0 || count == 0; rest /= 10)
      digits[count++] = static_cast<char>('0' + rest % 10);
    while (count > 0) to.text[at++] = digits[--count];
    to.text[at++] = ';';
  }
  return to;
}
static_assert([] {
  std::size_t most = 0;  // a key, =, 20 digits and ;
  for (const SettingRow& each : kSettings) most += each.key.size() + 1 + 20 + 1;
  return most < kSettingsBytes;
}());

// The number at the beginning of `text`, and how many characters it has.
struct Digits {
  std::uint64_t value;
  std::size_t count;
};
constexpr Digits digits_of(const char* text, std::size_t length) {
  Digits found{};
  for (; found.count < length && text[found.count] >= '0' && text[found.count] <= '9';
       ++found.count)
    found.value = found.value * 10 + static_cast<std::uint64_t>(text[found.count] - '0');
  return found;
}

// The values in such a text; what it does not name keeps its initial value. Any context.
constexpr SettingValues settings_in(std::string_view text) {
  SettingValues values;
  while (!text.empty()) {
    for (const SettingRow& each : kSettings) {
      const std::size_t head = each.key.size() + 1;
      if (text.size() < head || !text.starts_with(each.key) || text[head - 1] != '=') continue;
      const Digits digits = digits_of(text.data() + head, text.size() - head);
      if (digits.count != 0) values[each.setting] = digits.value;
    }
    while (!text.empty() && text.front() != ';') text.remove_prefix(1);
    if (!text.empty()) text.remove_prefix(1);
  }
  return values;
}

}  // namespace gnomon::format
