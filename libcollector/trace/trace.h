// Records the calls that hooks trace. In hooks: normal context and signal handlers; no lock, no
// heap, no errno.
#pragma once
#include <cstdint>
#include <optional>

#include "libcollector/core/signal_action.h"
#include "libcollector/core/tsc_time.h"
#include "libcollector/format/settings.h"
#include "libcollector/record/recorder.h"
#include "libcollector/trace/sharing.h"
#include "libcollector/trace/thread_block.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// Where traced calls go; null: nowhere. In a fork child its memory is zeroed.
extern constinit Recorder* traced_recorder;

// From now on traced calls go into that recording, once it records. Normal context.
void begin_tracing(Recorder& to, const format::SettingValues& settings);
// Writes out what threads have recorded; no traced call is recorded any more. `of` has stopped.
// Normal context, not in a traced call.
Kept end_tracing(Recorder& of);
// Returns false while no traced call is recorded: then hooks make no system call of their own. Any
// context.
inline bool is_tracing() {
  const Recorder* const to = atomic(traced_recorder).load(std::memory_order_acquire);
  return to && to->takes_events();
}
// Returns true in a signal handler that has interrupted a call which is being recorded.
bool is_in_traced_call();
// The call that the calling thread was in is over: the program ends without returning to it.
void leave_traced_call();

// A call that is being recorded. Nothing behind its constructor asks which recording there is: the
// call belongs to the one with which it has begun, be that over meanwhile. A signal handler may
// interrupt it and make such a call: that one records as ticks of the clock do, with signals
// blocked. A handler may also leave this call by longjmp; that is found out later.
class TracedCall {
 public:
  // call: of the hook.
  explicit TracedCall(const Call& call)
      : call_(call), recorder_(atomic(traced_recorder).load(std::memory_order_acquire)) {
    if (!recorder_) return;
    ThreadBlock* const block = own_block;
    number_ = recorder_->number();
    if (block && block->tid != 0 && block->busy == 0 && block->recording == number_ &&
        is_surely_own(*block, call.slot)) [[likely]]
      enter(*block);
    else if (recorder_->takes_events())
      begin_otherwise();
  }
  ~TracedCall() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (writer_) [[unlikely]]
      end_nested();
    else if (block_)
      block_->busy = 0;
  }
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

  // Returns false if the call is not to be recorded.
  explicit operator bool() const { return block_ != nullptr; }
  // Returns false once that recording is over, or paused.
  bool is_recorded() const { return recorder_->takes_events() && recorder_->number() == number_; }
  // Returns true while allocations are not to be recorded, but frees are.
  bool takes_frees_only() const {
    return atomic(recorder_->control()->frees_only).load(std::memory_order_relaxed) != 0;
  }
  // The node of the call stack from the hook's caller on; 0: the recording has failed.
  std::uint32_t stack();
  // Publishes a record. time: ns.
  template <std::uint8_t Kind, typename Record>
  void put_compact(std::uint64_t time, std::uint64_t address, Record& record) {
    constexpr format::DataKind kFile = format::find_event_kind(Kind)->file;
    const auto put = [&](DataLanes& to) {
      return recorder_->put_compact<Kind>(to, {block_->tid, format::kNoCpu, time}, address, record);
    };
    if (!put(lanes()) && is_without_lane(kFile)) [[unlikely]]
      with_shared_lanes(put);
  }
  template <typename Record>
  void put(std::uint8_t kind, Record& record) {
    const auto put = [&](DataLanes& to) { return recorder_->put(to, kind, record); };
    if (!put(lanes()) && is_without_lane(format::find_event_kind(kind)->file)) [[unlikely]]
      with_shared_lanes(put);
  }
  std::uint32_t thread() const { return block_->tid; }

 private:
  // Whoever ends the recording looks whether the thread is busy after the recording has stopped, so
  // the thread says so before it looks at the recording.
  void enter(ThreadBlock& block) {
    block.busy = call_.slot;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_recorded()) [[likely]]
      block_ = &block;
    else
      block.busy = 0;
  }
  void begin_otherwise();
  void own_lanes(ThreadBlock& block);
  bool begin_nested();
  void end_nested();
  std::uint32_t walk_anew();
  DataLanes& lanes() { return writer_ ? writer_->lanes : block_->lanes; }
  bool is_without_lane(format::DataKind kind) {
    return !writer_ && block_->lanes[kind].is_refused != 0;
  }
  // Of all threads there may be more than there are lanes. The others use those of a writer in
  // turn, with signals blocked.
  template <typename Put>
  void with_shared_lanes(Put put) {
    const Blocked blocked(kAllSignals);
    Writer* const writer = recorder_->enter();
    if (!writer) return;
    if (is_recorded()) put(writer->lanes);
    recorder_->leave(*writer);
  }

  const Call call_;
  Recorder* const recorder_;
  std::uint32_t number_ = 0;  // of the recording
  ThreadBlock* block_ = nullptr;
  std::optional<Blocked> blocked_;  // of a nested call
  Writer* writer_ = nullptr;        // likewise
};

// The call of a hook, from the frame pointer in that.
inline Call call_of(const void* frame) {
  const auto* const words = static_cast<const std::uint64_t*>(frame);
  return {reinterpret_cast<std::uint64_t>(words + 1), words[1], words[0]};
}
#define GNOMON_OWN_CALL() ::gnomon::collector::call_of(__builtin_frame_address(0))

}  // namespace gnomon::collector
