// Recorder: puts records into the experiment's lanes, and full lanes into its data files. Any
// context; no lock, no errno, no heap.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>

#include "libcollector/core/atomic.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/format/control.h"
#include "libcollector/format/events.h"
#include "libcollector/record/experiment_directory.h"
#include "libcollector/record/file_space.h"
#include "libcollector/record/stack_table.h"

namespace gnomon::collector {

inline constexpr std::uint32_t kMaxFrames = 16384;
inline constexpr std::uint32_t kTextBytes = 8192;
inline constexpr std::uint32_t kWriterStackBytes = 16384;

// Where records go: a lane of each data kind. One thread at a time writes to them.
struct DataLanes {
  struct Lane {
    char* at;                  // null: none of this kind yet
    std::uint32_t used;        // bytes, with the block's header; 0: the lane holds no block
    std::uint32_t is_refused;  // 1: there is none to be had
  };
  Lane of_kind[format::kDataKinds];

  Lane& operator[](format::DataKind kind) { return of_kind[static_cast<std::size_t>(kind)]; }
};

// What a thread needs while it records: a lane of each data kind, room to collect frames, and a
// stack, because the thread's own may be small. One thread at a time has it.
struct Writer {
  std::uint32_t busy;
  DataLanes lanes;
  char text[kTextBytes];  // a line of map.jsonl
  char path[4096];        // of a load object
  alignas(16) char stack[kWriterStackBytes];
  std::uint64_t frames[kMaxFrames];  // leaf first; the kernel gives memory to what is used of them
};

// Lives in zeroed memory that a fork child sees zeroed again: the child records nothing.
class Recorder {
 public:
  // Returns true if open() may be called: nothing is open, or the last recording is sealed.
  bool is_free() const { return !control_ || sealed_ != 0; }
  // The recording's number, unique in this process. A recorder that is used again has a new number.
  std::uint32_t number() const { return atomic(number_).load(std::memory_order_relaxed); }
  // To be opened before open().
  ExperimentDirectory& directory() { return directory_; }
  const ExperimentDirectory& directory() const { return directory_; }
  // Creates the control page: from here on fail() is seen. After a recording that was sealed the
  // page takes the place of that one's, which threads that come late may still count in. number:
  // of the recording. Normal context.
  Range open(std::uint64_t session, std::uint32_t pid, std::uint32_t number);
  // Takes part in the experiment of another process, whose control page that is: both write events
  // from here on. Returns false if it is complete. Normal context.
  bool join(format::ControlPage& page);
  // Creates or joins the stack table and `writers` writers, or makes those of an earlier recording
  // free again. Normal context.
  Range open_storage(std::uint32_t writers);
  // Opens the files that are written while events of these kinds are recorded, and holds them.
  // Normal context.
  void hold_files(std::span<const format::DataKind> kinds);
  // State: armed, until the debugger asks to record. Returns false if the debugger did not within
  // `limit_ns`. Normal context.
  bool await_debugger(std::uint64_t limit_ns);
  // State: recording. Normal context.
  void begin(std::uint64_t now);
  // Returns false in a fork child, before begin(), and once the recording has ended, failed or was
  // asked to end.
  bool recording() const;
  // Returns true while events are not to be recorded, though the recording goes on.
  bool paused() const;
  // recording() && !paused()
  bool takes_events() const {
    if (atomic(ready_).load(std::memory_order_acquire) == 0) return false;
    const format::ControlPage& page = *control_;
    return atomic(page.state).load(std::memory_order_relaxed) ==
               static_cast<std::uint32_t>(format::State::recording) &&
           (atomic(page.asked).load(std::memory_order_relaxed) <=
                static_cast<std::uint32_t>(format::Ask::record) ||
            (recording() && !paused()));
  }
  // Returns true if the recording is still to be ended as the debugger asked.
  bool end_requested() const;
  // No event is begun any more; what is under way is still to be awaited.
  void stop();
  // Writes out what the lanes hold, and seals the experiment unless another process still writes to
  // it. Waits as end() does. Normal context.
  void finish();
  // Ends the recording and finishes; state failed stays. Does nothing in a fork child
  // or the second time. Waits a tenth of a second at most for threads that are writing: if one
  // stays, or a lane cannot be written out, the experiment keeps its lanes until finish() seals it.
  // are_written: so are the lanes of traced threads. Normal context.
  void end(std::uint64_t now, std::uint64_t cpu_time, bool are_written = true);
  // The first failure stays; the recording stops here.
  void fail(format::Failure failure, int error);
  void drop(format::Drop drop, std::uint32_t count = 1);
  // A thread is sampled by signals from now on.
  void count_thread();
  // Numbers of the lines of map.jsonl, from 0; a line that was written is counted.
  std::uint32_t next_map_line();
  void count_map_line();

  // Counts the times that code was unloaded: an address means one function within an epoch.
  std::uint32_t epoch() const;
  // Returns false if another thread was faster, and epoch() is not next - 1 any more.
  bool begin_epoch(std::uint32_t next);

  // Returns null if all writers are busy.
  Writer* try_enter();
  // Waits 20 ms at most for one. Returns null, and counts a drop, if none came free.
  Writer* enter();
  void leave(Writer& writer);

  // Interns `count` frames of writer.frames, under a mark of the epoch and `mark`, the walk's,
  // unless that is 0. Calls fresh(pc, writer) for every frame that the table did not know. Returns
  // the stack's node, or 0 if the recording has failed.
  template <typename Fresh>
  std::uint32_t intern(Writer& writer, std::uint32_t count, std::uint64_t mark, Fresh fresh) {
    return intern_at(epoch(), writer, count, mark, fresh);
  }
  // Likewise; at: the epoch, which may be over.
  template <typename Fresh>
  std::uint32_t intern_at(std::uint32_t at, Writer& writer, std::uint32_t count, std::uint64_t mark,
                          Fresh fresh);

  // Completes the record's first word and publishes the record. Returns false if the recording has
  // failed, or no lane is to be had: then is_refused says so. A thread may use a writer's lanes
  // instead, for which some are kept. What those cannot take is counted as dropped. compact: of a
  // kind with that layout; thread and time go into the header of its block.
  template <typename Record>
  bool put(DataLanes& lanes, std::uint8_t kind, Record& record) {
    static_assert(sizeof(Record) % 8 == 0 && alignof(Record) == 8);
    return put_head(lanes, *format::find_event_kind(kind),
                    reinterpret_cast<std::uint32_t*>(&record));
  }
  template <typename Record>
  bool put(Writer& writer, std::uint8_t kind, Record& record) {
    return put(writer.lanes, kind, record);
  }
  // Of a kind that has no row.
  template <typename Record>
  bool put(Writer& writer, const format::EventKind& kind, Record& record) {
    static_assert(sizeof(Record) % 8 == 0 && alignof(Record) == 8);
    return put_head(writer.lanes, kind, reinterpret_cast<std::uint32_t*>(&record));
  }
  struct Origin {
    std::uint32_t thread;  // kernel thread id
    std::uint16_t cpu;     // kNoCpu: to be asked for where the block begins
    std::uint64_t time;    // CLOCK_MONOTONIC, ns
  };
  // A record of a compact kind, whose fields `time` and first word this function sets. Also begins
  // a block if the open one is of another thread or began too long ago for that field.
  template <std::uint8_t Kind, typename Record>
  bool put_compact(DataLanes& lanes, const Origin& origin, std::uint64_t address, Record& record);

  // Writes out the blocks that stand in the lanes, to which nobody writes any more. Returns false
  // if that fails.
  bool write_out(DataLanes& lanes);
  // How many records stand in the lanes, into which another thread may be writing.
  static std::uint32_t events_in(const DataLanes& lanes);

  // The node of a frame of a call stack; 0: it has none yet.
  std::uint32_t known_frame(std::uint32_t parent, std::uint64_t pc) {
    return stacks_.find(parent, pc);
  }
  // Likewise; gives it one. 0: the recording has failed. Calls fresh(pc, writer) if the node is new
  // and a writer is free. To be called while all signals are blocked: a handler that is left by
  // longjmp would leave the node half made.
  template <typename Fresh>
  std::uint32_t intern_frame(std::uint32_t parent, std::uint64_t pc, Fresh fresh);
  // The node under which the outermost frames stand. 0: the recording has failed.
  std::uint32_t intern_base();

  format::ControlPage* control() const { return control_; }

 private:
  bool put_head(DataLanes& lanes, const format::EventKind& kind, std::uint32_t* words);
  bool begin_block(DataLanes& lanes, format::DataKind kind, const Origin& origin);
  void begin_block(DataLanes::Lane& lane, format::DataKind kind, const Origin& origin);
  // The block's header says how many bytes are used, so that records of a program that was killed
  // do not vanish from its lanes unnoticed.
  static void advance(DataLanes::Lane& lane, std::uint32_t bytes) {
    lane.used += bytes;
    auto& header = *reinterpret_cast<format::BlockHeader*>(lane.at);
    atomic(header.bytes).store(lane.used, std::memory_order_release);
  }
  bool is_writers(const DataLanes& lanes) const;
  bool get_lane(DataLanes::Lane& lane, bool is_writers);
  bool write_out(DataLanes::Lane& lane, format::DataKind kind);
  bool take_writers();
  bool write_out_all();
  std::uint32_t failed(const StackTable::Interned& result) {
    fail(result.failure, result.error);
    return 0;
  }

  std::uint32_t ready_;
  std::uint32_t sealed_;
  std::uint32_t joined_;
  std::uint32_t writer_count_;
  std::uint32_t number_;
  format::ControlPage* control_;
  Writer* writers_;
  StackTable stacks_;
  ExperimentDirectory directory_;
};

template <typename Fresh>
std::uint32_t Recorder::intern_at(std::uint32_t at, Writer& writer, std::uint32_t count,
                                  std::uint64_t mark, Fresh fresh) {
  std::uint32_t parent = 0;
  for (const std::uint64_t outer : {at == 0 ? 0 : format::epoch_mark(at), mark}) {
    if (outer == 0) continue;
    const StackTable::Interned marker = stacks_.intern(parent, outer);
    if (!marker.node) return failed(marker);
    parent = marker.node;
  }
  for (std::uint32_t i = count; i-- > 0;) {
    const StackTable::Interned frame = stacks_.intern(parent, writer.frames[i]);
    if (!frame.node) return failed(frame);
    if (frame.fresh) fresh(writer.frames[i], writer);
    parent = frame.node;
  }
  return parent;
}

template <std::uint8_t Kind, typename Record>
bool Recorder::put_compact(DataLanes& lanes, const Origin& origin, std::uint64_t address,
                           Record& record) {
  using format::CompactWord;
  static_assert(sizeof(Record) % 8 == 0 && alignof(Record) == 8);
  constexpr std::uint64_t kLongest = ~std::uint32_t{0};  // ns
  constexpr format::DataKind kFile = format::find_event_kind(Kind)->file;
  DataLanes::Lane& lane = lanes[kFile];
  const auto* header = reinterpret_cast<const format::BlockHeader*>(lane.at);
  if (lane.used == 0 || lane.used + sizeof record > format::kBlockBytes ||
      header->thread != origin.thread || origin.time - header->time > kLongest) {
    if (!begin_block(lanes, kFile, origin)) return false;
    header = reinterpret_cast<const format::BlockHeader*>(lane.at);
  }
  record.time = static_cast<std::uint32_t>(origin.time - header->time);
  record.word = CompactWord::of(address, Kind, 0).bits;
  auto* const to = reinterpret_cast<std::uint64_t*>(lane.at + lane.used);
  atomic(*to).store(record.word, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::uint64_t words[sizeof record / sizeof *to];
  std::memcpy(words, &record, sizeof record);
  for (std::size_t i = 1; i < std::size(words); ++i) to[i] = words[i];
  const std::uint16_t check = format::compact_check(lane.used, words, sizeof record);
  atomic(*to).store(CompactWord::of(address, Kind, check).bits, std::memory_order_release);
  advance(lane, sizeof record);
  return true;
}

template <typename Fresh>
std::uint32_t Recorder::intern_frame(std::uint32_t parent, std::uint64_t pc, Fresh fresh) {
  const StackTable::Interned frame = stacks_.intern(parent, pc);
  if (!frame.node) return failed(frame);
  if (frame.fresh)
    if (Writer* writer = enter()) {
      fresh(pc, *writer);
      leave(*writer);
    }
  return frame.node;
}

}  // namespace gnomon::collector
