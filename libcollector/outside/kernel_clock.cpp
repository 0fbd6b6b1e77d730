// The clock that samples another process from outside, by the kernel's rings: no signal, nothing
// that its debugger sees. In gnomon-sampler.
#include "libcollector/outside/kernel_clock.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "libcollector/core/atomic.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"

namespace gnomon::outside {
namespace {

using collector::atomic;
using collector::kSecond;
using format::Drop;

// If the rings are read up to an instant: when threads have ended of which all is known.
std::uint64_t settled_until(std::uint64_t time) {
  constexpr std::uint64_t kEnding = 2'000'000;  // ns
  return time - std::min(time, kEnding);
}

}  // namespace

// A collector in the process says itself what its threads have used that end.
ClockEvents::Wanted KernelClock::wanted_events() const {
  return {wanted_.pid, wanted_.period, size_.bytes(), wanted_.alone != nullptr};
}

CpuRests::End KernelClock::end_of(std::uint32_t thread) {
  if (wanted_.alone) return {};
  const format::EndedThread ended = ended_threads_.find(writer_.number_of(thread));
  return {ended.cpu, ended.start};
}

Ring* KernelClock::oldest(std::uint64_t before) {
  Ring* found = nullptr;
  std::uint64_t first = before;
  for (Ring& ring : rings_) {
    if (!ring.front()) continue;
    const std::uint64_t time = time_of(*ring.front());
    if (time > first || (found && time == first)) continue;
    first = time;
    found = &ring;
  }
  return found;
}

// Up to the beginning of the recording, and while that is paused, CPU time is not of it. On a busy
// machine this program may come to see the beginning late.
void KernelClock::follow_pauses(bool is_paused, std::uint64_t now) {
  const bool begins = !has_begun_ && atomic(page_.start_time).load() != 0;
  has_begun_ |= begins;
  if (is_paused && !was_paused_ && !begins && has_begun_) {
    if (is_clock()) rests_.look(now, true);
    if (is_clock()) rests_.tell(drained_, true);
    counting_.tell(drained_, false);
    counting_.pause();
  }
  if (begins || (was_paused_ && !is_paused)) {
    const std::uint64_t since = begins ? atomic(page_.start_time).load() : now;
    if (is_clock()) rests_.skip(since);
    waiting_.begin_use(since);
    counting_.begin(was_paused_ || is_paused);
    if (is_paused) counting_.pause();
  }
  if (is_paused || was_paused_) paused_until_ = now;
  was_paused_ = is_paused;
}

// What the threads have used is looked at before the rings are; when their ticks up to then have
// been added, which is the next time unless nothing moves, it is told.
bool KernelClock::drain(bool is_still) {
  const bool is_paused = recorder_.paused();
  const bool is_to_tell = is_still || rests_.can_tell(settled_until(drained_));
  if (is_clock() && has_begun_ && !is_paused && !has_executed_ &&
      (is_still || !rests_.has_looked()))
    rests_.look(collector::now(CLOCK_MONOTONIC), is_still);
  const std::uint64_t start = collector::now(CLOCK_MONOTONIC);
  follow_pauses(is_paused, start);
  saw_news_ = false;
  if (objects_.follow_lines()) writer_.forget_rules();
  counting_.look_for_traps();
  for (Ring& ring : rings_) ring.look();
  const std::uint64_t limit = is_still ? ~0ull : drained_;
  const bool awaited_exec = awaits_exec();
  while (Ring* ring = oldest(limit)) {
    take(*ring->front());
    ring->pop();
    if (awaited_exec && !awaits_exec()) return saw_news_;
  }
  if (std::exchange(is_stopped_, false)) {
    waiting_.mark_stopped();
    counting_.mark_stopped();
  }
  if (has_begun_ && !has_executed_ && !is_paused && (is_still || tells_all_))
    counting_.tell(start, false);
  if (is_clock() && has_begun_ && !has_executed_) {
    settle_threads(is_still ? ~0ull : settled_until(drained_));
    if (is_to_tell && !ends_) rests_.tell(is_still ? start : drained_, is_still || tells_all_);
    if (!is_paused) waiting_.tell_use(is_still ? start : drained_, is_still);
    tells_all_ &= !is_to_tell;
  }
  drained_ = start;
  if (is_still) count_lost();
  if (is_clock() && start >= next_size_) adapt_size(start);
  if (!is_still) waiting_.adapt(start, rings_);
  return saw_news_;
}

void KernelClock::take(const perf_event_header& record) {
  switch (record.type) {
    case PERF_RECORD_SAMPLE: {
      Sample sample;
      if (decode(record, sample)) on_sample(sample);
      return;
    }
    case PERF_RECORD_MMAP2: {
      NewMapping mapping;
      const Origin origin = origin_of(record);
      if (is_own(origin.process) && !has_executed_ && decode(record, mapping) &&
          objects_.add(mapping, origin.time))
        writer_.forget_rules();
      return;
    }
    case PERF_RECORD_COMM:
      return on_name(record);
    case PERF_RECORD_FORK: {
      TaskChange change{};
      if (!decode(record, change)) return;
      has_children_ |= change.process != change.parent;
      of_collector_.erase(change.thread);
      if (change.process == change.parent && is_own(change.process))
        waiting_.on_fork(change.thread, origin_of(record).time);
      return;
    }
    case PERF_RECORD_EXIT: {
      TaskChange change{};
      if (decode(record, change)) on_thread_end(change, origin_of(record).time);
      return;
    }
    case PERF_RECORD_READ: {
      ThreadCount count{};
      if (decode(record, count)) rests_.on_count(count, *events_);
      return;
    }
    case PERF_RECORD_SWITCH:
      return waiting_.on_switch(record);
    case PERF_RECORD_THROTTLE:
      return counting_.on_throttle(origin_of(record));
    case PERF_RECORD_LOST:
      lost_in_records_ += lost_in(record);
      return;
    default:
      return;
  }
}

// libcollector opens files in threads of its own, which are no part of the program.
void KernelClock::on_name(const perf_event_header& record) {
  const Origin origin = origin_of(record);
  if (!is_own(origin.process)) return;
  if (is_exec(record)) return on_exec(origin.time);
  if (name_in(record) == format::kFilesThread) of_collector_.insert(origin.thread);
}

// A script's interpreter may be named by env(1), which is executed before. Of a program that has
// ended already the kernel's records alone say what is mapped.
void KernelClock::on_exec(std::uint64_t time) {
  if (!awaits_exec()) {
    has_executed_ = true;
    return;
  }
  std::error_code error;
  const auto runs =
      std::filesystem::read_symlink("/proc/" + std::to_string(wanted_.pid) + "/exe", error);
  if (!error && runs != wanted_.executable) return;
  executed_at_ = time;
  if (!error) objects_.read();
  writer_.forget_rules();
}

// Another program's samples, and those from before the recording, are not of it.
bool KernelClock::is_of_recording(std::uint64_t time) const {
  const std::uint64_t end = atomic(page_.end_time).load();
  const auto state = static_cast<format::State>(atomic(page_.state).load());
  return !has_executed_ && (state == format::State::recording || state == format::State::ended) &&
         time > paused_until_ && time >= atomic(page_.start_time).load() && page_.start_time != 0 &&
         (end == 0 || time <= end);
}

void KernelClock::on_twin(const Sample& sample) {
  if (waiting_.is_sample(sample.origin))
    return counting_.on_twin(sample, PERF_COUNT_SW_CONTEXT_SWITCHES);
  if (events_->is_fault(sample.origin)) return counting_.on_twin(sample, PERF_COUNT_SW_PAGE_FAULTS);
  const auto software = counting_.software_of(sample.origin);
  if (!software) return;
  counting_.on_twin(sample, *software);
  if (software == PERF_COUNT_SW_CONTEXT_SWITCHES) waiting_.on_place(sample);
  if (software == PERF_COUNT_SW_PAGE_FAULTS) on_fault(sample);
}

void KernelClock::on_fault(const Sample& sample) {
  if (!is_own(sample.origin.process) || !is_of_recording(sample.origin.time)) return;
  if (const std::uint32_t stack = writer_.place_of(sample))
    kernel_time_.add_faults(sample.origin.thread, stack, ClockEvents::kFaults);
}

void KernelClock::on_sample(const Sample& sample) {
  if (twins_.is_of_another(sample.origin)) return on_twin(sample);
  if (waiting_.on_sample(sample)) return;
  saw_news_ = true;
  if (counting_.on_sample(sample)) return;
  if (!events_->counts(sample.origin) || !is_of_recording(sample.origin.time)) return;
  if (events_->is_fault(sample.origin)) return on_fault(sample);
  if (!is_own(sample.origin.process)) return recorder_.drop(Drop::children_samples);
  if (of_collector_.contains(sample.origin.thread)) return;
  // A thread's first tick covers a whole period, of which a part may be before the recording.
  const std::uint64_t weight = std::min(rests_.next_weight(sample.origin.thread),
                                        sample.origin.time - atomic(page_.start_time).load());
  const auto written =
      writer_.put(sample, SampleWriter::Tick{weight, parallelism(), counting_.is_held(sample)});
  if (!written) return;
  ++seen_.samples;
  seen_.cut += written->copy.is_cut;
  seen_.used = std::max(seen_.used, written->copy.used);
  rests_.add(sample.origin.thread, written->tick);
}

// The thread itself is on a CPU.
std::uint16_t KernelClock::parallelism() const {
  if (!waiting_.has_switches()) return 0;
  return static_cast<std::uint16_t>(std::clamp<std::uint32_t>(waiting_.running(), 1, 0xffff));
}

void KernelClock::put_rest(Rest rest, std::uint64_t time) {
  const std::uint64_t end = atomic(page_.end_time).load();
  if (end != 0) time = std::min(time, end);
  if (rest.parallelism == 0) rest.parallelism = parallelism();
  if (is_of_recording(time)) writer_.put(rest, time);
}

void KernelClock::put_off(OffCpu off) {
  const std::uint64_t end = atomic(page_.end_time).load();
  if (end != 0 && off.end > end) {
    const std::uint64_t beyond = std::min(off.end - end, off.length);
    off.weight -= std::min(off.weight, beyond);
    off.length -= beyond;
    off.end = end;
  }
  if (off.weight != 0 && is_of_recording(off.end)) writer_.put(off);
}

// Another thread may get its number. What it has used comes in records behind this one.
void KernelClock::on_thread_end(const TaskChange& change, std::uint64_t time) {
  saw_news_ = true;
  events_->on_thread_end(change.thread);
  counting_.on_thread_end(change.thread);
  if (!is_own(change.process)) return;
  if (of_collector_.contains(change.thread)) {
    waiting_.leave_out(change.thread);
    rests_.leave_out(change.thread);
  } else {
    waiting_.on_exit(change.thread, time);
  }
  rests_.on_exit(change.thread, time);
}

void KernelClock::settle_threads(std::uint64_t before) {
  for (const std::uint32_t thread : rests_.settle(before)) {
    writer_.forget(thread);
    kernel_time_.forget(thread);
    called_waits_.forget(thread);
  }
}

// The kernel writes no record of what it lost last, and its records do not say of which event it
// is.
void KernelClock::count_lost() {
  const std::uint64_t lost =
      events_->tells_lost() ? lost_before_ + events_->lost() : lost_in_records_;
  if (lost > lost_) recorder_.drop(Drop::ring_full, static_cast<std::uint32_t>(lost - lost_));
  lost_ = std::max(lost, lost_);
}

// What the present events have written stays in the rings, and what the next ones write comes
// after it.
void KernelClock::adapt_size(std::uint64_t now) {
  constexpr std::uint64_t kSoon = kSecond / 10;  // ns
  if (next_size_ != 0 && seen_.samples != 0) {
    count_lost();
    seen_.lost = lost_ - lost_then_;
    const std::uint32_t before = size_.bytes();
    if (size_.adapt(seen_) && !replace_events()) size_.keep(before);
    seen_ = {};
    lost_then_ = lost_;
    writer_.name_kernel_if_at_hand();
  }
  const std::uint64_t begin = atomic(page_.start_time).load();
  next_size_ = now + (begin == 0 || now < begin + kSecond ? kSoon : kSecond);
}

bool KernelClock::replace_events() {
  auto next = std::make_unique<ClockEvents>();
  if (next->open(wanted_events(), ClockEvents::Begin::idle, rings_) != 0) return false;
  next->know_faults_of(*events_);
  events_->disable();
  next->enable();
  lost_before_ += events_->lost();
  events_ = std::move(next);
  has_replaced_ = true;
  return true;
}

std::uint64_t KernelClock::cpu_used() const {
  if (has_ended_) return cpu_at_end_;
  return has_children_ || has_replaced_ ? 0 : events_->cpu_time();
}

void KernelClock::end_rests() {
  if (!is_clock() || !has_begun_ || has_executed_ || was_paused_) return;
  const bool is_known = wanted_events().tells_counts && !has_children_ && !has_replaced_;
  rests_.end(collector::now(CLOCK_MONOTONIC),
             {is_known ? events_->time_of_only_root(rests_.counted()) : 0, page_.cpu_time});
}

// The process may run on while this drains the rings, so that its threads' times are those that
// drain() has looked at first, and end_rests() tells them.
void KernelClock::end() {
  ends_ = true;
  drain(true);
  end_rests();
  const bool counts_next_program = has_executed_ && !wanted_.executable.empty();
  if (has_begun_ && !counts_next_program) counting_.tell(collector::now(CLOCK_MONOTONIC), true);
  counting_.close();
  cpu_at_end_ = cpu_used();
  has_ended_ = true;
  events_->close();
  waiting_.close();
  name_kernel();
  if (!wanted_.alone) recorder_.finish();
}

}  // namespace gnomon::outside
