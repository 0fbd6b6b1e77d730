// What is counted in another process besides its time. In gnomon-sampler.
#include "libcollector/outside/counting.h"

#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "libcollector/core/small_file.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/outside/breakpoint_trial.h"
#include "libcollector/outside/process_facts.h"

namespace gnomon::outside {
namespace {

constexpr std::size_t kLine = 2048;  // bytes

// The harmonic mean of the CPUs' clocks: so long a cycle is on average. 0: not known.
std::uint64_t mean_megahertz() {
  std::vector<char> text(1 << 20);
  if (collector::read_small_file("/proc/cpuinfo", text.data(), text.size()) == 0) return 0;
  double sum = 0;
  unsigned count = 0;
  for (const char* at = text.data(); (at = std::strstr(at, "cpu MHz")) != nullptr; ++at) {
    const char* const colon = std::strchr(at, ':');
    const double clock = colon ? std::strtod(colon + 1, nullptr) : 0;
    if (clock > 0) sum += 1 / clock;
    if (clock > 0) ++count;
  }
  return count == 0 ? 0 : static_cast<std::uint64_t>(count / sum);
}

perf_event_attr attributes_of(const format::Watch& watch) {
  perf_event_attr attributes = common_attributes();
  attributes.type = PERF_TYPE_BREAKPOINT;
  attributes.config = 0;
  attributes.sample_period = watch.interval;
  attributes.bp_type = watch.is_call   ? HW_BREAKPOINT_X
                       : watch.is_read ? HW_BREAKPOINT_RW
                                       : HW_BREAKPOINT_W;
  attributes.bp_addr = watch.address;
  attributes.bp_len = watch.is_call ? sizeof(long) : watch.size;  // perf_event_open(2), bp_len
  attributes.remove_on_exec = 1;
  return attributes;
}

// How long a hit holds its thread, ns; 0: not known.
std::uint64_t cost_of_hit(std::uint64_t interval) {
  const BreakpointTrial& trial = breakpoint_trial();
  const std::uint64_t sampling = trial.sampled - std::min(trial.sampled, trial.counted);
  return trial.sampled == 0 ? 0 : trial.counted + sampling / interval;
}

// Where a thread that is stopped goes on (proc_pid_syscall(5)); 0: not known.
std::uint64_t place_of(pid_t pid, std::uint32_t thread) {
  const std::string path = std::string("/proc/")
                               .append(std::to_string(pid))
                               .append("/task/")
                               .append(std::to_string(thread))
                               .append("/syscall");
  char text[256];
  if (collector::read_small_file(path.c_str(), text, sizeof text) == 0) return 0;
  const char* const last = std::strrchr(text, ' ');
  return last ? std::strtoull(last + 1, nullptr, 16) : 0;
}

// Whether a debugger has a breakpoint there. Where this program may not look the answer is no.
bool has_trap_at(pid_t pid, std::uint64_t address) {
  constexpr unsigned char kInt3 = 0xcc;
  const std::string path = std::string("/proc/").append(std::to_string(pid)).append("/mem");
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  unsigned char byte = 0;
  const bool is_read = pread(file, &byte, 1, static_cast<off_t>(address)) == 1;
  ::close(file);
  return is_read && byte == kInt3;
}

}  // namespace

// A debugger takes its breakpoint away while one thread steps over it.
void Counting::look_for_traps() {
  constexpr int kLooks = 5;
  for (const auto& source : sources_) {
    if (!source->is_call() || !source->events.is_open()) continue;
    source->traps = has_trap_at(pid_, source->address) ? kLooks : std::max(source->traps - 1, 0);
  }
}

std::string Counting::refusal_of(int error, bool is_watch) const {
  if (error == ENOSPC && is_watch) return format::kNoRegisterLeft;
  if (error == EINVAL && is_watch)
    return "the processor watches 1, 2, 4 or 8 bytes, at a multiple of that";
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
    return "no processor here counts that event";
  return refusal_of_events(error, rights_to(pid_));
}

std::string Counting::open_one(const format::Counter& counter, std::uint32_t stack_bytes,
                               bool is_to_execute, const Rings& rings) {
  auto source = std::make_unique<Source>(counter.interval);
  perf_event_attr attributes = common_attributes();
  format::count(counter, attributes);
  ask_for_origin(attributes);
  ask_for_stack(attributes, stack_bytes);
  attributes.disabled = attributes.enable_on_exec = is_to_execute ? 1 : 0;
  attributes.remove_on_exec = is_to_execute ? 0 : 1;
  if (const int error = source->events.open(pid_, attributes, rings); error != 0)
    return std::string(counter.name).append(": ").append(refusal_of(error, false));
  if (counter.type == PERF_TYPE_SOFTWARE) source->software = counter.config;
  source->is_of_processor = !source->software && open_always(rings);
  const std::uint64_t mhz = counter.is_cycles ? mean_megahertz() : 0;
  if (mhz != 0) source->scale = 1000.0 / static_cast<double>(mhz);
  source->number = static_cast<std::uint32_t>(sources_.size());
  source->kind = static_cast<std::uint8_t>(format::kFirstCounter + sources_.size());
  source->balance.begin(source->events.figures().count);
  write_counter(*source, counter, mhz);
  ++counters_;
  sources_.push_back(std::move(source));
  return "";
}

std::string Counting::open(const std::vector<format::Counter>& counters, std::uint32_t stack_bytes,
                           bool is_to_execute, const Rings& rings) {
  std::string refused;
  for (const format::Counter& counter : counters) {
    const std::string why = open_one(counter, stack_bytes, is_to_execute, rings);
    if (!why.empty()) refused.append(refused.empty() ? "" : "; ").append(why);
  }
  return refused;
}

// Touches may come by hundreds of thousands a second.
std::string Counting::watch(format::Watch& watch, const Rings& rings) {
  if (!breakpoint_trial().do_work)
    return "the breakpoint registers of this machine report no hits; watch on another";
  auto source = std::make_unique<Source>(watch.interval);
  perf_event_attr attributes = attributes_of(watch);
  ask_for_origin(attributes);
  ask_for_stack(attributes, kWatchStackBytes);
  if (const int error = source->events.open(pid_, attributes, rings); error != 0)
    return refusal_of(error, true);
  source->number = watch.number = ++watches_;
  source->address = watch.address;
  source->kind = watch.is_call ? format::kCall : format::kAccess;
  source->hit_cost = cost_of_hit(watch.interval);
  if (is_on_) source->balance.begin(source->events.figures().count);
  write_watch(watch, source->hit_cost);
  sources_.push_back(std::move(source));
  return "";
}

bool Counting::unwatch(std::uint32_t number, std::uint64_t time) {
  for (const auto& source : sources_) {
    if (!source->is_watch() || source->number != number || !source->events.is_open()) continue;
    tell_one(*source, time, true);
    source->events.close();
    return true;
  }
  return false;
}

void Counting::write_counter(const Source& source, const format::Counter& counter,
                             std::uint64_t mhz) {
  char text[kLine];
  collector::JsonLine line(calls_.session(), text, sizeof text);
  line.number("counter", source.number)
      .number("kind", source.kind)
      .text("name", counter.name.c_str())
      .text("title", counter.title.c_str())
      .number("interval", counter.interval);
  if (mhz != 0) line.number("mhz", mhz);
  if (counter.is_of_system && !source.events.sees_kernel()) line.number("user_only", 1);
  note(format::kCountersFile, line, text);
}

void Counting::note(const char* file, collector::JsonLine& line, const char* text) const {
  if (const std::size_t length = line.finish(); length != 0) calls_.note(file, {text, length});
}

void Counting::write_watch(const format::Watch& watch, std::uint64_t hit_cost) {
  char text[kLine];
  collector::JsonLine line(calls_.session(), text, sizeof text);
  line.number("watch", watch.number)
      .text("what", watch.is_call ? "call" : "access")
      .text("name", watch.name.c_str())
      .hex("address", watch.address)
      .number("size", watch.size)
      .number("reads", watch.is_read ? 1 : 0)
      .number("interval", watch.interval)
      .number("hit_cost", hit_cost)
      .number("time", collector::now(CLOCK_MONOTONIC));
  note(format::kWatchesFile, line, text);
}

// Of a counter that shares its register with others: its figures are too small by that share.
void Counting::write_figures(Source& source, bool is_last) {
  const CounterEvents::Figures& seen = source.seen;
  const bool is_shared = seen.running < seen.enabled - seen.enabled / 50;
  const bool is_news = source.throttles != source.told_throttles || is_shared || seen.lost != 0;
  if (!is_last && !is_news) return;
  source.told_throttles = source.throttles;
  char text[kLine];
  collector::JsonLine line(calls_.session(), text, sizeof text);
  line.number(source.is_watch() ? "watch" : "counter", source.number)
      .number("counted", source.balance.counted(seen.count) - source.doubled)
      .number("enabled", seen.enabled)
      .number("running", seen.running)
      .number("lost", seen.lost)
      .number("throttled", source.throttles);
  if (source.is_watch() && is_last) line.number("end", collector::now(CLOCK_MONOTONIC));
  note(source.is_watch() ? format::kWatchesFile : format::kCountersFile, line, text);
}

Counting::Source* Counting::source_of(const Origin& record) {
  for (const auto& source : sources_)
    if (source->events.wrote(record)) return source.get();
  return nullptr;
}

// Where a debugger has a breakpoint at a function's first instruction a call is seen twice: when
// the thread meets the breakpoint, and when it goes on with what stood there. The second sample has
// all registers of the first.
bool Counting::is_double(Source& source, const Sample& sample) {
  if (!source.is_call() || !sample.has_registers) return false;
  Call& last = source.calls[sample.origin.thread];
  const bool may_be_same = last.stands || (last.is_first && source.traps != 0);
  const bool is_same =
      may_be_same && std::memcmp(last.registers, sample.registers, sizeof last.registers) == 0;
  std::memcpy(last.registers, sample.registers, sizeof last.registers);
  last.stands = false;
  last.is_first = !is_same;
  return is_same;
}

bool Counting::on_sample(const Sample& sample) {
  Source* const source = source_of(sample.origin);
  if (!source) return false;
  if (!source->events.counts(sample.origin)) return true;
  if (sample.origin.process == static_cast<std::uint32_t>(pid_)) take(*source, sample);
  return true;
}

std::optional<std::uint64_t> Counting::software_of(const Origin& sample) {
  const Source* const source = source_of(sample);
  return source ? source->software : std::nullopt;
}

void Counting::on_twin(const Sample& sample, std::uint64_t software) {
  if (sample.origin.process != static_cast<std::uint32_t>(pid_)) return;
  for (const auto& source : sources_)
    if (source->software == software && !source->events.wrote(sample.origin))
      return take(*source, sample);
}

void Counting::take(Source& source, const Sample& sample) {
  if (source.is_watch() && source.balance.interval() == 1) hits_.note(sample, source.hit_cost);
  if (is_double(source, sample)) {
    ++source.doubled;
    return;
  }
  if (!calls_.is_of_recording(sample.origin.time)) return;
  const std::uint64_t count = source.balance.weigh_sample();
  SampleWriter::Counted counted{
      source.kind, source.number,
      static_cast<std::uint64_t>(static_cast<double>(count) * source.scale)};
  counted.is_behind = source.kind == format::kAccess;
  writer_.put(sample, counted);
}

void Counting::on_throttle(const Origin& record) {
  if (Source* const source = source_of(record)) ++source->throttles;
}

void Counting::on_thread_end(std::uint32_t thread) {
  hits_.on_thread_end(thread);
  for (const auto& source : sources_) {
    source->events.on_thread_end(thread);
    source->calls.erase(thread);
  }
}

// A debugger sets a thread that has met a breakpoint back to that.
void Counting::mark_stopped() {
  for (const auto& source : sources_)
    for (auto& [thread, call] : source->calls)
      call.stands = place_of(pid_, thread) == source->address;
}

void Counting::begin(bool is_anew) {
  is_on_ = true;
  if (!is_anew) return;
  for (const auto& source : sources_) source->balance.begin(source->events.figures().count);
}

void Counting::pause() {
  is_on_ = false;
  for (const auto& source : sources_) source->balance.pause(source->events.figures().count);
}

// What the kernel calls enabled counts each thread's time once for each CPU, running once.
void Counting::look(Source& source) {
  if (!source.events.is_open()) return;
  source.seen = source.events.figures();
  source.seen.enabled = source.is_of_processor ? always_.figures().running : source.seen.running;
}

bool Counting::open_always(const Rings& rings) {
  if (always_.is_open()) return true;
  perf_event_attr attributes = common_attributes();
  attributes.exclude_kernel = 1;
  ask_for_origin(attributes);
  return always_.open(pid_, attributes, rings) == 0;
}

void Counting::tell_one(Source& source, std::uint64_t time, bool is_last) {
  using format::Activity;
  if (!source.events.is_open()) return;
  look(source);
  const auto rest = source.balance.rest(
      source.seen.count - std::min(source.doubled, source.seen.count), source.seen.lost);
  const bool has_parts = !source.is_watch() || source.balance.interval() > 1;
  const auto put = [&](std::uint64_t count, Activity activity) {
    const auto weight = static_cast<std::uint64_t>(static_cast<double>(count) * source.scale);
    if (weight != 0) writer_.put({source.kind, source.number, weight}, activity, time);
  };
  put(rest.final, has_parts ? Activity::final_counts : Activity::lost);
  put(rest.frozen, source.is_watch() ? Activity::lost : Activity::frozen_counts);
  write_figures(source, is_last);
}

void Counting::tell(std::uint64_t time, bool is_last) {
  for (const auto& source : sources_) tell_one(*source, time, is_last);
}

void Counting::close() {
  for (const auto& source : sources_) source->events.close();
  always_.close();
}

}  // namespace gnomon::outside
