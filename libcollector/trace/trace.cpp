// Records the calls that hooks trace. In hooks: normal context and signal handlers; no lock, no
// heap, no errno.
#include "libcollector/trace/trace.h"

#include <atomic>

#include "libcollector/core/atomic.h"
#include "libcollector/core/stack_switch.h"
#include "libcollector/target/code.h"
#include "libcollector/trace/tracer.h"

extern "C" {
// The linker's names for the bounds of the section that GNOMON_TRACER fills.
extern const gnomon::collector::TracerBegin __start_gnomon_tracers[]  // NOLINT
    __attribute__((visibility("hidden")));
extern const gnomon::collector::TracerBegin __stop_gnomon_tracers[]  // NOLINT
    __attribute__((visibility("hidden")));
}

namespace gnomon::collector {

constinit Recorder* traced_recorder = nullptr;

namespace {

constinit std::uint32_t depth = 0;
constinit bool verifies = false;

Recorder& recorder_of(void* to) { return *static_cast<Recorder*>(to); }

NodeMaker nodes_of(Recorder& recorder) {
  return {&recorder, [](void* to) { return recorder_of(to).intern_base(); },
          [](void* to, std::uint32_t parent, std::uint64_t pc) {
            return recorder_of(to).known_frame(parent, pc);
          },
          [](void* to, std::uint32_t parent, std::uint64_t pc) {
            return recorder_of(to).intern_frame(parent, pc,
                                                [to](std::uint64_t fresh, Writer& writer) {
                                                  note_fresh_frame(fresh, recorder_of(to), writer);
                                                });
          }};
}

// What a walk needs on the writer's stack, because the thread's own may be small.
struct FullWalk {
  Recorder& to;
  const Call& call;
  ThreadStacks stacks;
  Writer& writer;
  std::uint32_t node = 0;
  bool may_be_nested = false;
};

void walk_on_writer(void* pointer) {
  FullWalk& walk = *static_cast<FullWalk*>(pointer);
  LoadedHold hold;
  const Walked walked = own_unwinder.walk(walk.call, walk.stacks, walk.writer.frames, depth, hold);
  walk.may_be_nested = walked.truncated() || walked.hid;
  walk.node = walk.to.intern(
      walk.writer, walked.count, format::walk_mark(walked.end, walked.guessed),
      [&walk](std::uint64_t pc, Writer& writer) { note_fresh_frame(pc, walk.to, writer); });
}

}  // namespace

void begin_tracing(Recorder& to, const format::SettingValues& settings) {
  depth = static_cast<std::uint32_t>(settings[format::Setting::depth]);
  for (const TracerBegin* each = __start_gnomon_tracers; each != __stop_gnomon_tracers; ++each)
    each->begin(settings[format::row(each->tracer).setting], to);
  verifies = settings[format::Setting::verify] != 0;
  begin_hook_time();
  atomic(traced_recorder).store(&to, std::memory_order_release);
}

Kept end_tracing(Recorder& of) {
  atomic(traced_recorder).store(nullptr, std::memory_order_release);
  end_hook_time();
  return write_out_blocks(of);
}

bool is_in_traced_call() { return own_block && own_block->busy != 0; }

void leave_traced_call() {
  if (own_block) own_block->busy = 0;
}

void TracedCall::begin_otherwise() {
  ThreadBlock* block = own_block;
  if (is_of_child(block, call_.slot, *recorder_)) return;
  if (!block || block->tid == 0) block = claim_block();
  if (!block) {
    recorder_->drop(format::Drop::no_lane);  // only memory may be missing
    return;
  }
  if (block->busy != 0) {
    block_ = block;
    if (!begin_nested()) block_ = nullptr;
    return;
  }
  atomic(block->entering).store(number_, std::memory_order_relaxed);
  enter(*block);
  if (block_ && block->recording != number_) own_lanes(*block);
}

// Lanes of an earlier recording were written out when that ended, unless the thread was busy then:
// the experiment has not been sealed since.
void TracedCall::own_lanes(ThreadBlock& block) {
  if (block.recorder && block.recorder->number() == block.recording)
    block.recorder->write_out(block.lanes);
  for (DataLanes::Lane& lane : block.lanes.of_kind) {
    void* const old = lane.at;
    lane = {};
    if (old) unmap_range(old, format::kBlockBytes);
  }
  block.stacks.forget();
  block.recorder = recorder_;
  atomic(block.recording).store(number_, std::memory_order_release);
}

// A signal handler has interrupted a call that is being recorded, or such a handler was left by
// longjmp and that call is gone: then no frame of the collector's is on the call stack.
bool TracedCall::begin_nested() {
  blocked_.emplace(kAllSignals);
  writer_ = recorder_->enter();
  if (writer_ && !is_recorded()) {
    recorder_->leave(*writer_);
    writer_ = nullptr;
  }
  if (!writer_) blocked_.reset();
  return writer_ != nullptr;
}

void TracedCall::end_nested() { recorder_->leave(*writer_); }

// A handler of the program's must find the thread on a stack of the program's: on another the
// kernel would begin the alternate stack anew, over the frames of a handler that is active there.
std::uint32_t TracedCall::walk_anew() {
  std::optional<Blocked> blocked;
  if (!writer_) blocked.emplace(kAllSignals);
  Writer* writer = writer_ ? writer_ : recorder_->enter();
  if (!writer) return 0;
  FullWalk walk{*recorder_, call_, {block_->stack, {}}, *writer};
  call_on_stack(writer->stack + sizeof writer->stack, walk_on_writer, &walk);
  if (writer_ && !walk.may_be_nested) block_->busy = 0;
  if (!writer_) recorder_->leave(*writer);
  return walk.node;
}

std::uint32_t TracedCall::stack() {
  if (writer_ || !block_->stack.contains(call_.slot)) return walk_anew();
  for (bool again = true;; again = false) {
    const std::uint32_t version = own_unwinder.version();
    const std::uint32_t node =
        block_->stacks.node_of(call_, block_->stack, depth, own_unwinder, nodes_of(*recorder_));
    // Other code has come to lie where some was.
    if (again && own_unwinder.version() != version) continue;
    if (verifies && node != 0 && node != walk_anew()) recorder_->drop(format::Drop::wrong_stacks);
    return node != 0 ? node : walk_anew();
  }
}

}  // namespace gnomon::collector
