// Recorder: puts records into the experiment's blocks. Any context; no lock, no errno, no heap.
#pragma once
#include <cstdint>

#include "libcollector/format/block.h"
#include "libcollector/format/control.h"
#include "libcollector/record/file_space.h"
#include "libcollector/record/stack_table.h"

namespace gnomon::collector {

inline constexpr std::uint32_t kMaxFrames = 1024;
inline constexpr std::uint32_t kTextBytes = 8192;
inline constexpr std::uint32_t kLaneStackBytes = 16384;

// What one writer at a time needs: an open block a data kind, room to collect frames, and a stack,
// because the interrupted one may be small.
struct Lane {
  struct OpenBlock {
    char* at;  // null: none
    std::uint32_t used;
    std::uint32_t count;
    std::uint64_t chain;  // of the digests of its records
  };
  std::uint32_t busy;
  OpenBlock open[format::kDataKinds];
  std::uint64_t frames[kMaxFrames];  // leaf first
  char text[kTextBytes];             // a line of map.jsonl
  alignas(16) char stack[kLaneStackBytes];
};

// Lives in zeroed memory that a fork child sees zeroed again: the child records nothing.
class Recorder {
 public:
  static constexpr std::uint32_t kPathBytes = 4096;

  // True if open() may be called: nothing is open, or what was is closed completely.
  bool is_free() const { return !control_ || closed_ != 0; }
  // Creates the control page in `directory`: from here on fail() is seen. After a recording that
  // was closed it takes the place of that one's, which threads that come late may still count in.
  // Normal context.
  Range open(const char* directory, std::uint64_t session, std::uint32_t pid);
  // Creates stack table and lanes, or makes the lanes of an earlier recording free again. Normal
  // context.
  Range open_storage(std::uint32_t lanes);
  // State: armed, until the debugger asks to record. False: it did not within `limit_ns`. Normal
  // context.
  bool await_debugger(std::uint64_t limit_ns);
  // State: recording. Normal context.
  void begin(std::uint64_t now);
  // False in a fork child, before begin() and once recording ended, failed or was asked to end.
  bool recording() const;
  // True if it is still to be ended as the debugger asked.
  bool end_requested() const;
  // Ends recording and closes what was written; state failed stays. Nothing in a fork child or the
  // second time. Waits a tenth of a second at most for threads that are writing: if one stays,
  // blocks stay open. Normal context.
  void end(std::uint64_t now, std::uint64_t cpu_time);
  // The first failure stays; recording stops here.
  void fail(format::Failure failure, int error);
  void drop(format::Drop drop);
  void count_map_line();

  // Counts the times that code was unloaded: an address means one function within an epoch.
  std::uint32_t epoch() const;
  // False: somebody else was faster, and epoch() is not next - 1 any more.
  bool begin_epoch(std::uint32_t next);

  Lane* enter();  // null: all lanes are busy, and counted
  void leave(Lane& lane);

  // Interns `count` frames of lane.frames, under a mark of the epoch; `truncated` puts the marker
  // above the outermost.
  // fresh(pc, lane) is called for every frame the table did not know. 0: failed.
  template <typename Fresh>
  std::uint32_t intern(Lane& lane, std::uint32_t count, bool truncated, Fresh fresh);

  // Completes record.word and publishes the record. False: failed.
  template <typename Record>
  bool put(Lane& lane, const format::EventKind& kind, Record& record) {
    static_assert(sizeof(Record) % 8 == 0);
    return put_words(lane, kind, reinterpret_cast<std::uint32_t*>(&record), sizeof(Record));
  }

  format::ControlPage* control() const { return control_; }
  const char* directory() const { return directory_; }
  // directory/name; false: too long
  bool path_of(const char* name, char (&path)[kPathBytes]) const;

 private:
  bool put_words(Lane& lane, const format::EventKind& kind, std::uint32_t* words,
                 std::uint32_t bytes);
  bool next_block(Lane& lane, format::DataKind kind);
  bool take_lanes();
  void close();
  std::uint32_t failed(const StackTable::Interned& result) {
    fail(result.failure, result.error);
    return 0;
  }

  std::uint32_t ready_;
  std::uint32_t closed_;
  std::uint32_t lane_count_;
  std::uint32_t epoch_;
  format::ControlPage* control_;
  Lane* lanes_;
  StackTable stacks_;
  char directory_[kPathBytes];
  char stacks_path_[kPathBytes];
  char data_path_[format::kDataFiles.size()][kPathBytes];
};

template <typename Fresh>
std::uint32_t Recorder::intern(Lane& lane, std::uint32_t count, bool truncated, Fresh fresh) {
  std::uint32_t parent = 0;
  if (const std::uint32_t at = epoch(); at != 0) {
    const StackTable::Interned mark = stacks_.intern(0, format::epoch_mark(at));
    if (!mark.node) return failed(mark);
    parent = mark.node;
  }
  if (truncated) {
    const StackTable::Interned marker = stacks_.intern(parent, format::kTruncatedMarker);
    if (!marker.node) return failed(marker);
    parent = marker.node;
  }
  for (std::uint32_t i = count; i-- > 0;) {
    const StackTable::Interned frame = stacks_.intern(parent, lane.frames[i]);
    if (!frame.node) return failed(frame);
    if (frame.fresh) fresh(lane.frames[i], lane);
    parent = frame.node;
  }
  return parent;
}

}  // namespace gnomon::collector
