// Calls that do I/O. In hooks: normal context, and signal handlers.
#include "libcollector/trace/io/io.h"

#include <cstring>

#include "libcollector/trace/long_calls.h"

namespace gnomon::collector {

void record_io(TracedCall& traced, const IoCall& done, std::uint32_t file) {
  const std::uint64_t duration = done.until - done.since;
  if (is_to_tell(done.since, done.until))
    tell_long_call(traced, done.since, done.until, format::ThreadState::other_wait);
  format::Io record{};
  record.head.thread = traced.thread();
  record.head.time = done.until;
  record.head.cpu = format::kNoCpu;
  record.head.stack = traced.stack();
  record.head.state = static_cast<std::uint8_t>(done.error);
  record.head.flags = static_cast<std::uint8_t>(done.operation);
  std::memcpy(record.bytes, &done.bytes, sizeof record.bytes);
  std::memcpy(record.duration, &duration, sizeof record.duration);
  record.file = file;
  if (record.head.stack != 0) traced.put(format::kIo, record);
}

void record_io(const Call& call, const IoCall& done, int descriptor) {
  if (is_inside_stream(call)) return;
  if (TracedCall traced(call); traced) record_io(traced, done, file_of(traced, descriptor));
}

void record_open(const Call& call, IoCall done, int descriptor, const char* path) {
  forget_file(descriptor);
  if (is_inside_stream(call)) return;
  TracedCall traced(call);
  if (!traced) return;
  const bool has_failed = descriptor < 0;
  const bool is_path_sound = path && done.error != EFAULT;
  record_io(traced, done,
            !has_failed     ? file_of(traced, descriptor)
            : is_path_sound ? file_of_path(traced, path)
                            : 0);
}

void record_path(const Call& call, const IoCall& done, const char* path) {
  if (is_inside_stream(call)) return;
  TracedCall traced(call);
  if (!traced) return;
  record_io(traced, done, path && done.error != EFAULT ? file_of_path(traced, path) : 0);
}

bool is_inside_stream(const Call& call) {
  const ThreadBlock* const block = own_block;
  if (!block || call.slot >= block->stream || !block->stack.contains(call.slot)) return false;
  // A call that was left by longjmp leaves its mark until other calls overwrite the place.
  return *reinterpret_cast<const std::uint64_t*>(block->stream) == block->stream_caller;
}

// The thread may have no block yet: then nothing that this call does is taken for its own.
InsideStream::InsideStream(const Call& call)
    : block_(own_block && own_block->stack.contains(call.slot) && !is_in_child() ? own_block
                                                                                 : nullptr) {
  ThreadBlock* const block = block_;
  if (!block) return;
  before_ = block->stream;
  before_caller_ = block->stream_caller;
  // Deeper than this one: it was left by longjmp.
  if (before_ < call.slot) before_ = 0;
  block->stream_caller = call.pc;
  block->stream = call.slot;
}

InsideStream::~InsideStream() {
  if (!block_) return;
  block_->stream = before_;
  block_->stream_caller = before_caller_;
}

}  // namespace gnomon::collector
