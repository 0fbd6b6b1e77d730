// Calls that wait for another thread. In hooks: normal context.
#include "libcollector/trace/waits.h"

#include <algorithm>

#include "libcollector/target/thread_slots.h"
#include "libcollector/trace/long_calls.h"
#include "libcollector/trace/tracer.h"

namespace gnomon::collector {
namespace {

// Where several objects fall together the last one is known.
struct Release {
  std::uint64_t object;
  std::uint32_t tid;
};
constexpr std::uint32_t kReleases = 1024;  // a power of two
constinit Release releases[kReleases] = {};
constinit bool is_recorded = false;

Release& release_at(const void* object) {
  const auto address = reinterpret_cast<std::uint64_t>(object);
  return releases[(address >> 3) * 0x9e3779b97f4a7c15ull >> 54];
}

std::uint32_t own_tid() {
  if (current_thread) return current_thread->tid;
  ThreadBlock* const block = own_block;
  return block ? block->tid : 0;
}

// Six times what an uncontended call costs, as Studio has it.
std::uint64_t calibrated() {
  constexpr std::uint64_t kTimes = 6, kLeast = 50;  // ns
  return std::max(kTimes * uncontended_lock_time(), kLeast);
}

// Measures what an uncontended lock costs where that is to be the threshold.
void begin(std::uint64_t setting, Recorder& to) {
  is_recorded = setting != 0;
  wait_threshold = kLongCall;
  if (!is_recorded) return;
  wait_threshold =
      setting == format::kSyncCalibrate ? calibrated() : format::sync_threshold(setting);
  to.control()->waits = place_of_blocks();
}

GNOMON_TRACER(sync, begin);

}  // namespace

void note_release(const void* object) {
  Release& release = release_at(object);
  atomic(release.object).store(reinterpret_cast<std::uint64_t>(object), std::memory_order_relaxed);
  atomic(release.tid).store(own_tid(), std::memory_order_relaxed);
}

std::uint32_t releaser_of(const void* object) {
  const Release& release = release_at(object);
  if (atomic(release.object).load(std::memory_order_relaxed) !=
      reinterpret_cast<std::uint64_t>(object))
    return 0;
  return atomic(release.tid).load(std::memory_order_relaxed);
}

void publish_wait(const Awaited& awaited, std::uint64_t since) {
  if (is_in_child()) return;
  ThreadBlock* block = own_block;
  if (!block && is_tracing()) block = claim_block();
  if (!block) return;
  block->wait.object = reinterpret_cast<std::uint64_t>(awaited.object);
  block->wait.kind = static_cast<std::uint32_t>(awaited.kind);
  atomic(block->wait.since).store(since, std::memory_order_release);
}

void take_wait_back() {
  if (ThreadBlock* const block = own_block; block && !is_in_child())
    atomic(block->wait.since).store(0, std::memory_order_relaxed);
}

bool traces_waits() { return is_recorded || tells_long_calls; }

void record_wait(const Call& call, const Awaited& awaited, std::uint64_t since,
                 std::uint64_t until) {
  TracedCall traced(call);
  if (!traced) return;
  if (is_to_tell(since, until)) tell_long_call(traced, since, until, format::ThreadState::lock);
  if (!is_recorded) return;
  format::Wait record{};
  record.head.thread = traced.thread();
  record.head.time = until;
  record.head.cpu = format::kNoCpu;
  record.head.stack = traced.stack();
  record.object = reinterpret_cast<std::uint64_t>(awaited.object);
  record.duration = until - since;
  record.kind = static_cast<std::uint32_t>(awaited.kind);
  record.holder = awaited.holder;
  if (record.head.stack != 0) traced.put(format::kWait, record);
}

}  // namespace gnomon::collector
