// Recorder: puts records into the experiment's lanes, and full lanes into its data files. Any
// context; no lock, no errno, no heap.
#include "libcollector/record/recorder.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "libcollector/core/atomic.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/format/overview.h"

namespace gnomon::collector {
namespace {

using format::Failure;
using format::State;

// Word by word: others may be counting what they drop.
format::ControlPage copy_of(format::ControlPage& page) {
  static_assert(sizeof page % sizeof(std::uint64_t) == 0);
  std::uint64_t words[sizeof page / sizeof(std::uint64_t)];
  auto* from = reinterpret_cast<std::uint64_t*>(&page);
  for (std::size_t i = 0; i < std::size(words); ++i)
    words[i] = atomic(from[i]).load(std::memory_order_relaxed);
  return std::bit_cast<format::ControlPage>(words);
}

// Returns null if no whole record stands there yet.
const format::EventKind* kind_of_record(const char* at, std::size_t file) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  for (const format::EventKind& kind : format::kEventKinds) {
    if (static_cast<std::size_t>(kind.file) != file) continue;
    const bool is_compact = kind.layout == format::Layout::compact;
    const std::uint8_t id = is_compact ? format::CompactWord{word}.kind() : word & 0xff;
    if (kind.id == id) return &kind;
  }
  return nullptr;
}

std::uint16_t current_cpu() {
  const int cpu = sched_getcpu();
  return cpu < 0 ? format::kNoCpu : static_cast<std::uint16_t>(cpu);
}

}  // namespace

Range Recorder::open(std::uint64_t session, std::uint32_t pid, std::uint32_t number) {
  const Range page = map_range({directory_, format::kControlFile}, Create::must_be_new, 0,
                               format::kControlBytes, control_);
  if (!page.at) return page;
  sealed_ = 0;
  joined_ = 0;
  atomic(number_).store(number);
  control_ = static_cast<format::ControlPage*>(page.at);
  control_->major = format::kFormatMajor;
  control_->minor = format::kFormatMinor;
  control_->session = session;
  control_->pid = pid;
  control_->writers = 1;
  atomic(control_->magic).store(format::kControlMagic, std::memory_order_release);
  return page;
}

bool Recorder::join(format::ControlPage& page) {
  std::uint32_t writers = atomic(page.writers).load();
  do {
    if (writers == 0) return false;
  } while (!atomic(page.writers).compare_exchange_strong(writers, writers + 1));
  control_ = &page;
  joined_ = 1;
  return true;
}

Range Recorder::open_storage(std::uint32_t writers) {
  const Range stacks = joined_ != 0 ? stacks_.join(directory_, control_->session)
                                    : stacks_.open(directory_, control_->session);
  if (!stacks.at) return stacks;
  if (!writers_) {
    void* memory = mmap(nullptr, writers * sizeof(Writer), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return {nullptr, Failure::map_file, errno};
    writers_ = static_cast<Writer*>(memory);
    writer_count_ = writers;
  }
  for (std::uint32_t i = 0; i < writer_count_; ++i) leave(writers_[i]);
  atomic(ready_).store(1, std::memory_order_release);
  return {writers_};
}

// A kind without events leaves an empty file, which finish() removes.
void Recorder::hold_files(std::span<const format::DataKind> kinds) {
  directory_.hold_itself();
  for (const format::DataKind kind : kinds)
    directory_.hold(format::kDataFiles[static_cast<std::size_t>(kind)], O_RDWR);
  for (const char* name : {format::kLanesFile, format::kStacksFile}) directory_.hold(name, O_RDWR);
  for (const char* name : {format::kMapFile, format::kLogFile, format::kOverviewFile})
    directory_.hold(name, O_WRONLY | O_APPEND);
}

bool Recorder::await_debugger(std::uint64_t limit_ns) {
  atomic(control_->state)
      .store(static_cast<std::uint32_t>(State::armed), std::memory_order_release);
  const std::uint64_t limit = now(CLOCK_MONOTONIC) + limit_ns;
  const auto asked = atomic(control_->asked);
  for (;;) {
    const std::uint32_t word = asked.load(std::memory_order_acquire);
    if (word != static_cast<std::uint32_t>(format::Ask::nothing)) return true;
    const std::uint64_t at = now(CLOCK_MONOTONIC);
    if (at >= limit) return false;
    const timespec rest = timespec_of(limit - at);
    raw_syscall(SYS_futex, arg(&control_->asked), FUTEX_WAIT, word, arg(&rest));
  }
}

void Recorder::begin(std::uint64_t now) {
  control_->start_time = now;
  control_->begun = format::begun_check(*control_);
  atomic(control_->state)
      .store(static_cast<std::uint32_t>(State::recording), std::memory_order_release);
}

bool Recorder::recording() const {
  return atomic(ready_).load(std::memory_order_acquire) != 0 &&
         atomic(control_->state).load(std::memory_order_relaxed) ==
             static_cast<std::uint32_t>(State::recording) &&
         !end_requested();
}

bool Recorder::paused() const {
  return control_ && atomic(control_->asked).load(std::memory_order_relaxed) ==
                         static_cast<std::uint32_t>(format::Ask::pause);
}

bool Recorder::end_requested() const {
  return control_ &&
         atomic(control_->asked).load(std::memory_order_relaxed) ==
             static_cast<std::uint32_t>(format::Ask::end) &&
         atomic(control_->end_time).load(std::memory_order_relaxed) == 0;
}

void Recorder::stop() {
  if (!control_) return;
  auto expected = static_cast<std::uint32_t>(State::recording);
  atomic(control_->state)
      .compare_exchange_strong(expected, static_cast<std::uint32_t>(State::ended));
}

void Recorder::end(std::uint64_t now, std::uint64_t cpu_time, bool are_written) {
  if (!control_ || control_->end_time != 0) return;
  stop();
  control_->cpu_time = cpu_time;
  atomic(control_->end_time).store(now, std::memory_order_release);
  if (are_written) finish();
}

// Takes every writer and keeps it, so that nobody writes any more.
bool Recorder::take_writers() {
  constexpr std::uint64_t kPatience = 100'000'000;  // ns
  std::uint64_t limit = 0;
  for (std::uint32_t i = 0; i < writer_count_; ++i)
    while (atomic(writers_[i].busy).exchange(1, std::memory_order_acquire) != 0) {
      if (limit == 0) limit = now(CLOCK_MONOTONIC) + kPatience;
      if (now(CLOCK_MONOTONIC) > limit) return false;
      raw_syscall(SYS_sched_yield);
    }
  return true;
}

bool Recorder::write_out(DataLanes& lanes) {
  bool all = true;
  for (std::size_t k = 0; k < format::kDataKinds; ++k) {
    const auto kind = static_cast<format::DataKind>(k);
    if (lanes[kind].used != 0) all = write_out(lanes[kind], kind) && all;
  }
  return all;
}

std::uint32_t Recorder::events_in(const DataLanes& lanes) {
  std::uint32_t events = 0;
  for (const DataLanes::Lane& lane : lanes.of_kind) {
    const std::uint32_t used = atomic(lane.used).load(std::memory_order_acquire);
    for (std::uint32_t at = sizeof(format::BlockHeader); at < used; ++events) {
      const format::EventKind* const kind =
          kind_of_record(lane.at + at, static_cast<std::size_t>(&lane - lanes.of_kind));
      if (!kind) break;
      at += kind->size;
    }
  }
  return events;
}

bool Recorder::write_out_all() {
  bool all = true;
  for (std::uint32_t i = 0; i < writer_count_; ++i) all = write_out(writers_[i].lanes) && all;
  return all;
}

void Recorder::finish() {
  if (!take_writers() || !write_out_all()) return;
  for (std::uint32_t i = 0; i < writer_count_; ++i)
    for (DataLanes::Lane& lane : writers_[i].lanes.of_kind) {
      if (lane.at) unmap_range(lane.at, format::kBlockBytes);
      lane = {};
    }
  const bool last = atomic(control_->writers).fetch_sub(1) == 1;
  stacks_.close(last);
  sealed_ = 1;
  if (!last) return;
  auto* closed = reinterpret_cast<format::ClosedPage*>(reinterpret_cast<char*>(control_) +
                                                       format::kClosedPageOffset);
  const format::ControlPage page = copy_of(*control_);
  closed->page = page;
  atomic(closed->check).store(format::page_check(page), std::memory_order_release);
  for (std::size_t k = 0; k < format::kDataFiles.size(); ++k)
    if (page.blocks[k] == 0) directory_.remove_file(format::kDataFiles[k]);
  directory_.remove_file(format::kLanesFile);
  directory_.remove_file(format::kEndedFile);
  directory_.remove_file(format::kPlacesFile);
  directory_.remove_file(format::kWaitsFile);
}

void Recorder::fail(Failure failure, int error) {
  std::uint32_t none = 0;
  if (atomic(control_->failure).compare_exchange_strong(none, static_cast<std::uint32_t>(failure)))
    control_->failure_errno = error;
  atomic(control_->state).store(static_cast<std::uint32_t>(State::failed));
}

void Recorder::drop(format::Drop drop, std::uint32_t count) {
  if (format::is_of_signals(drop) && format::is_from_outside(atomic(control_->clock).load()))
    return;
  atomic(control_->dropped[static_cast<std::uint32_t>(drop)])
      .fetch_add(count, std::memory_order_relaxed);
}

// gnomon-sampler counts those that it samples.
void Recorder::count_thread() {
  if (atomic(control_->clock).load() == static_cast<std::uint32_t>(format::Clock::signal))
    atomic(control_->threads).fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t Recorder::next_map_line() {
  return atomic(control_->map_lines_begun).fetch_add(1, std::memory_order_relaxed);
}

void Recorder::count_map_line() {
  atomic(control_->map_lines).fetch_add(1, std::memory_order_release);
}

std::uint32_t Recorder::epoch() const {
  return control_ ? atomic(control_->epoch).load(std::memory_order_acquire) : 0;
}

bool Recorder::begin_epoch(std::uint32_t next) {
  std::uint32_t before = next - 1;
  return atomic(control_->epoch).compare_exchange_strong(before, next);
}

std::uint32_t Recorder::intern_base() {
  const std::uint32_t at = epoch();
  if (at == 0) return 0;
  const std::uint64_t pc = format::epoch_mark(at);
  if (const std::uint32_t known = stacks_.find(0, pc)) return known;
  const Blocked blocked(kAllSignals);
  const StackTable::Interned mark = stacks_.intern(0, pc);
  return mark.node ? mark.node : failed(mark);
}

// Starts at the writer of this CPU: it is free unless a thread was preempted while it had it.
Writer* Recorder::try_enter() {
  const int cpu = sched_getcpu();
  const std::uint32_t first = cpu < 0 ? 0 : static_cast<std::uint32_t>(cpu);
  for (std::uint32_t i = 0; i < writer_count_; ++i) {
    Writer& writer = writers_[(first + i) % writer_count_];
    if (atomic(writer.busy).exchange(1, std::memory_order_acquire) == 0) return &writer;
  }
  return nullptr;
}

// A thread that has a writer has signals blocked, so no thread waits here for itself. The sleep
// lets a thread of lower priority go on.
Writer* Recorder::enter() {
  constexpr std::uint64_t kPatience = 20'000'000;  // ns
  constexpr timespec kMoment{0, 50'000};
  Writer* writer = try_enter();
  if (writer) [[likely]]
    return writer;
  const std::uint64_t limit = now(CLOCK_MONOTONIC) + kPatience;
  while (!writer && recording() && now(CLOCK_MONOTONIC) < limit) {
    raw_syscall(SYS_nanosleep, arg(&kMoment), 0);
    writer = try_enter();
  }
  if (!writer) drop(format::Drop::writers_busy);
  return writer;
}

void Recorder::leave(Writer& writer) { atomic(writer.busy).store(0, std::memory_order_release); }

bool Recorder::is_writers(const DataLanes& lanes) const {
  const auto* const at = reinterpret_cast<const char*>(&lanes);
  const auto* const first = reinterpret_cast<const char*>(writers_);
  return at >= first && at < first + writer_count_ * sizeof(Writer);
}

// Threads without a lane record in turn into those of the writers, so some are kept for these.
bool Recorder::get_lane(DataLanes::Lane& lane, bool is_writers) {
  if (lane.at) return true;
  const auto kept = std::min(static_cast<std::uint32_t>(writer_count_ * format::kDataKinds),
                             format::kMaxLanes / 4);
  const std::uint32_t limit = is_writers ? format::kMaxLanes : format::kMaxLanes - kept;
  const auto lanes = atomic(control_->lanes);
  std::uint32_t index = lanes.load(std::memory_order_relaxed);
  do {
    lane.is_refused = index >= limit;
    if (lane.is_refused != 0) return false;
  } while (!lanes.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
  const Range range = map_range({directory_, format::kLanesFile}, Create::if_missing,
                                std::uint64_t{index} * format::kBlockBytes, format::kBlockBytes);
  if (range.at) {
    lane.at = static_cast<char*>(range.at);
    return true;
  }
  lane.is_refused = range.error == ENOMEM;
  if (lane.is_refused == 0) fail(range.failure, range.error);
  return false;
}

// If it fails the lane keeps its block.
bool Recorder::write_out(DataLanes::Lane& lane, format::DataKind kind) {
  auto& header = *reinterpret_cast<format::BlockHeader*>(lane.at);
  header.check = format::block_check(reinterpret_cast<const std::uint64_t*>(lane.at), lane.used);
  const FileError error =
      write_range({directory_, format::kDataFiles[static_cast<std::size_t>(kind)]},
                  std::uint64_t{header.number} * format::kBlockBytes, lane.at, lane.used);
  if (error) {
    fail(error.failure, error.error);
    return false;
  }
  // A reader that copies the lane meanwhile sees by `magic` that the block is not in it any more.
  atomic(header.magic).store(0, std::memory_order_release);
  std::memset(lane.at + sizeof header.magic, 0, lane.used - sizeof header.magic);
  lane.used = 0;
  return true;
}

// Signals are blocked, because a handler that is left by longjmp would leave it undone.
bool Recorder::begin_block(DataLanes& lanes, format::DataKind kind, const Origin& origin) {
  DataLanes::Lane& lane = lanes[kind];
  const bool is_writers = this->is_writers(lanes);
  if (lane.is_refused == 0) {
    const Blocked blocked(kAllSignals);
    const bool is_free = get_lane(lane, is_writers) && (lane.used == 0 || write_out(lane, kind));
    if (is_free) begin_block(lane, kind, origin);
    if (lane.is_refused == 0) return is_free;
  }
  if (is_writers) drop(format::Drop::no_lane);
  return false;
}

void Recorder::begin_block(DataLanes::Lane& lane, format::DataKind kind, const Origin& origin) {
  const auto k = static_cast<std::uint32_t>(kind);
  auto& header = *reinterpret_cast<format::BlockHeader*>(lane.at);
  header.major = format::kFormatMajor;
  header.kind = static_cast<std::uint16_t>(kind);
  header.number = atomic(control_->blocks[k]).fetch_add(1, std::memory_order_acq_rel);
  header.session = control_->session;
  header.thread = origin.thread;
  header.cpu = origin.cpu == format::kNoCpu && origin.time != 0 ? current_cpu() : origin.cpu;
  header.time = origin.time;
  header.begun = format::header_check(header);
  lane.used = header.bytes = sizeof header;
  atomic(header.magic).store(format::kBlockMagic, std::memory_order_release);
}

bool Recorder::put_head(DataLanes& lanes, const format::EventKind& kind, std::uint32_t* words) {
  DataLanes::Lane& lane = lanes[kind.file];
  if (lane.used == 0 || lane.used + kind.size > format::kBlockBytes)
    if (!begin_block(lanes, kind.file, {})) return false;
  format::RecordWord word{kind.id, static_cast<std::uint8_t>(kind.size / 8), 0};
  auto* to = reinterpret_cast<std::uint32_t*>(lane.at + lane.used);
  atomic(*to).store(std::bit_cast<std::uint32_t>(word), std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(to + 1, words + 1, kind.size - sizeof *words);
  word.check = format::record_check(format::record_digest(kind.id, lane.used, words, kind.size));
  words[0] = std::bit_cast<std::uint32_t>(word);
  atomic(*to).store(words[0], std::memory_order_release);
  advance(lane, kind.size);
  return true;
}

}  // namespace gnomon::collector
