// Records the calls that hooks trace. In hooks: normal context and signal handlers; no lock, no
// heap, no errno.
#include "libcollector/trace/trace.h"

#include <atomic>

#include "libcollector/core/atomic.h"
#include "libcollector/core/stack_switch.h"
#include "libcollector/trace/heap_sampling.h"
#include "libcollector/trace/io/io_files.h"
#include "libcollector/trace/long_calls.h"
#include "libcollector/trace/waits.h"

namespace gnomon::collector {

constinit Recorder* traced_recorder = nullptr;

namespace {

constinit Unwinder* unwinder = nullptr;
constinit FreshCall fresh_call = nullptr;
constinit std::uint32_t depth = 0;
constinit bool free_stacks = false, verifies = false;

void note(std::uint64_t pc, Writer& writer) { fresh_call(pc, *traced_recorder, writer); }

constexpr NodeMaker kNodes{
    [] { return traced_recorder->intern_base(); },
    [](std::uint32_t parent, std::uint64_t pc) { return traced_recorder->known_frame(parent, pc); },
    [](std::uint32_t parent, std::uint64_t pc) {
      return traced_recorder->intern_frame(parent, pc, note);
    }};

// What a walk needs on the writer's stack, because the thread's own may be small.
struct FullWalk {
  const Call& call;
  ThreadStacks stacks;
  Writer& writer;
  std::uint32_t node = 0;
  bool may_be_nested = false;
};

void walk_on_writer(void* pointer) {
  FullWalk& walk = *static_cast<FullWalk*>(pointer);
  LoadedHold hold;
  const Walked walked = unwinder->walk(walk.call, walk.stacks, walk.writer.frames, depth, hold);
  walk.may_be_nested = walked.truncated() || walked.hid;
  walk.node = traced_recorder->intern(walk.writer, walked.count,
                                      format::walk_mark(walked.end, walked.guessed), note);
}

}  // namespace

bool has_free_stacks() { return free_stacks; }

void begin_tracing(Recorder& to, Unwinder& by, const format::SettingValues& settings,
                   FreshCall fresh) {
  unwinder = &by;
  fresh_call = fresh;
  depth = static_cast<std::uint32_t>(settings[format::Setting::depth]);
  begin_heap_sampling(format::heap_mean(settings[format::Setting::heaptrace]));
  begin_telling_calls(to.directory(), settings[format::Setting::waits] != 0);
  begin_wait_tracing(settings[format::Setting::synctrace]);
  if (settings[format::Setting::synctrace] != 0) to.control()->waits = place_of_blocks();
  forget_all_files();
  free_stacks = (settings[format::Setting::heaptrace] & format::kFreeStacks) != 0;
  verifies = settings[format::Setting::verify] != 0;
  prepare_tsc_time();
  atomic(traced_recorder).store(&to, std::memory_order_release);
}

bool end_tracing() { return !traced_recorder || write_out_blocks(*traced_recorder); }

void TracedCall::begin_otherwise() {
  ThreadBlock* block = own_block;
  if (!block || block->tid == 0) block = claim_block();
  if (!block) {
    traced_recorder->drop(format::Drop::writers_busy);
    return;
  }
  block_ = block;
  if (block->busy != 0) {
    if (!begin_nested()) block_ = nullptr;
    return;
  }
  block->busy = call_.slot;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (block->recorder == traced_recorder) return;
  // Lanes of an earlier recording were written out when that ended.
  for (DataLanes::Lane& lane : block->lanes.of_kind) {
    void* const old = lane.at;
    lane = {};
    if (old) unmap_range(old, format::kBlockBytes);
  }
  atomic(block->recorder).store(traced_recorder, std::memory_order_release);
}

// A signal handler has interrupted a call that is being recorded, or such a handler was left by
// longjmp and that call is gone: then no frame of the collector's is on the call stack.
bool TracedCall::begin_nested() {
  blocked_.emplace(kAllSignals);
  writer_ = traced_recorder->enter();
  if (!writer_) blocked_.reset();
  return writer_ != nullptr;
}

void TracedCall::end_nested() { traced_recorder->leave(*writer_); }

// A handler of the program's must find the thread on a stack of the program's: on another the
// kernel would begin the alternate stack anew, over the frames of a handler that is active there.
std::uint32_t TracedCall::walk_anew() {
  std::optional<Blocked> blocked;
  if (!writer_) blocked.emplace(kAllSignals);
  Writer* writer = writer_ ? writer_ : traced_recorder->enter();
  if (!writer) return 0;
  FullWalk walk{call_, {block_->stack, {}}, *writer};
  call_on_stack(writer->stack + sizeof writer->stack, walk_on_writer, &walk);
  if (writer_ && !walk.may_be_nested) block_->busy = 0;
  if (!writer_) traced_recorder->leave(*writer);
  return walk.node;
}

std::uint32_t TracedCall::stack() {
  if (writer_ || !block_->stack.contains(call_.slot)) return walk_anew();
  for (bool again = true;; again = false) {
    const std::uint32_t version = unwinder->version();
    const std::uint32_t node =
        block_->stacks.node_of(call_, block_->stack, depth, *unwinder, kNodes);
    // Other code has come to lie where some was.
    if (again && unwinder->version() != version) continue;
    if (verifies && node != 0 && node != walk_anew())
      traced_recorder->drop(format::Drop::wrong_stacks);
    return node != 0 ? node : walk_anew();
  }
}

}  // namespace gnomon::collector
