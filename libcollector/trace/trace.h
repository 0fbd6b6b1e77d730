// Records the calls that hooks trace. In hooks: normal context and signal handlers; no lock, no
// heap, no errno.
#pragma once
#include <cstdint>
#include <optional>

#include "libcollector/core/signal_action.h"
#include "libcollector/core/tsc_time.h"
#include "libcollector/format/settings.h"
#include "libcollector/record/recorder.h"
#include "libcollector/trace/thread_block.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// Notes the load object of a frame that was met for the first time.
using FreshCall = void (*)(std::uint64_t pc, Recorder& to, Writer& writer);

// Where traced calls go; null: nowhere. In a fork child its memory is zeroed.
extern constinit Recorder* traced_recorder;

// From now on traced calls go into that recording, once it records. Normal context.
void begin_tracing(Recorder& to, Unwinder& by, const format::SettingValues& settings,
                   FreshCall fresh);
// Writes out what threads have recorded; no traced call is recorded any more. Returns false if not
// everything could be written. Normal context.
bool end_tracing();
// Returns true while allocations are not to be recorded, but frees are. While traced calls are.
inline bool takes_frees_only() {
  return atomic(traced_recorder->control()->frees_only).load(std::memory_order_relaxed) != 0;
}
// Returns true if a block that is given back gets the call stack of that call.
bool has_free_stacks();

// A call that is being recorded. A call in a signal handler that interrupts this one records by the
// way that ticks of the clock take, with signals blocked, so that no handler leaves it for good.
// This one may be left so, by longjmp; that is found out later.
class TracedCall {
 public:
  // call: of the hook.
  explicit TracedCall(const Call& call) : call_(call) {
    Recorder* const to = traced_recorder;
    if (!to || !to->takes_events()) return;
    ThreadBlock* const block = own_block;
    if (block && block->tid != 0 && block->busy == 0 && block->recorder == to) [[likely]] {
      block->busy = call.slot;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      block_ = block;
    } else {
      begin_otherwise();
    }
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
  // The node of the call stack from the hook's caller on; 0: the recording has failed.
  std::uint32_t stack();
  // Publishes a record. time: ns.
  template <std::uint8_t Kind, typename Record>
  void put_compact(std::uint64_t time, std::uint64_t address, Record& record) {
    traced_recorder->put_compact<Kind>(lanes(), {block_->tid, format::kNoCpu, time}, address,
                                       record);
  }
  template <typename Record>
  void put(std::uint8_t kind, Record& record) {
    traced_recorder->put(lanes(), kind, record);
  }
  std::uint32_t thread() const { return block_->tid; }

 private:
  void begin_otherwise();
  bool begin_nested();
  void end_nested();
  std::uint32_t walk_anew();
  DataLanes& lanes() { return writer_ ? writer_->lanes : block_->lanes; }

  const Call call_;
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
