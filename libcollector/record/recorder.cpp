// Recorder: puts records into the experiment's blocks. Any context; no lock, no errno, no heap.
#include "libcollector/record/recorder.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "libcollector/core/atomic.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"

namespace gnomon::collector {
namespace {

using format::Failure;
using format::State;

bool join(const char* directory, const char* name, char (&path)[Recorder::kPathBytes]) {
  const std::size_t d = std::strlen(directory), n = std::strlen(name);
  if (d + 1 + n + 1 > sizeof path) return false;
  std::memcpy(path, directory, d);
  path[d] = '/';
  std::memcpy(path + d + 1, name, n + 1);
  return true;
}

void close_block(Lane::OpenBlock& open) {
  if (!open.at) return;
  auto* header = reinterpret_cast<format::BlockHeader*>(open.at);
  atomic(header->check)
      .store(format::block_check(open.chain, open.count), std::memory_order_release);
  unmap_range(open.at, format::kBlockBytes);
  open = {};
}

// Word by word: others may be counting what they drop.
format::ControlPage copy_of(format::ControlPage& page) {
  static_assert(sizeof page % sizeof(std::uint64_t) == 0);
  std::uint64_t words[sizeof page / sizeof(std::uint64_t)];
  auto* from = reinterpret_cast<std::uint64_t*>(&page);
  for (std::size_t i = 0; i < std::size(words); ++i)
    words[i] = atomic(from[i]).load(std::memory_order_relaxed);
  return std::bit_cast<format::ControlPage>(words);
}

}  // namespace

bool Recorder::path_of(const char* name, char (&path)[kPathBytes]) const {
  return join(directory_, name, path);
}

Range Recorder::open(const char* directory, std::uint64_t session, std::uint32_t pid) {
  constexpr Range too_long{nullptr, Failure::open_file, ENAMETOOLONG};
  char control_path[kPathBytes];
  if (std::strlen(directory) >= sizeof directory_) return too_long;
  std::memcpy(directory_, directory, std::strlen(directory) + 1);
  if (!path_of(format::kControlFile, control_path) || !path_of(format::kStacksFile, stacks_path_))
    return too_long;
  for (std::size_t i = 0; i < format::kDataFiles.size(); ++i)
    if (!path_of(format::kDataFiles[i].data(), data_path_[i])) return too_long;

  const Range page = map_range(control_path, 0, format::kControlBytes, control_);
  if (!page.at) return page;
  closed_ = 0;
  atomic(epoch_).store(0, std::memory_order_release);
  control_ = static_cast<format::ControlPage*>(page.at);
  control_->major = format::kFormatMajor;
  control_->minor = format::kFormatMinor;
  control_->session = session;
  control_->pid = pid;
  atomic(control_->magic).store(format::kControlMagic, std::memory_order_release);
  return page;
}

Range Recorder::open_storage(std::uint32_t lanes) {
  if (const Range stacks = stacks_.open(stacks_path_, control_->session); !stacks.at) return stacks;
  if (!lanes_) {
    void* memory = mmap(nullptr, lanes * sizeof(Lane), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return {nullptr, Failure::map_file, errno};
    lanes_ = static_cast<Lane*>(memory);
    lane_count_ = lanes;
  }
  control_->lanes = lane_count_;
  for (std::uint32_t i = 0; i < lane_count_; ++i) leave(lanes_[i]);
  atomic(ready_).store(1, std::memory_order_release);
  return {lanes_};
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
  atomic(control_->state)
      .store(static_cast<std::uint32_t>(State::recording), std::memory_order_release);
}

bool Recorder::recording() const {
  return atomic(ready_).load(std::memory_order_acquire) != 0 &&
         atomic(control_->state).load(std::memory_order_relaxed) ==
             static_cast<std::uint32_t>(State::recording) &&
         !end_requested();
}

bool Recorder::end_requested() const {
  return control_ &&
         atomic(control_->asked).load(std::memory_order_relaxed) ==
             static_cast<std::uint32_t>(format::Ask::end) &&
         atomic(control_->end_time).load(std::memory_order_relaxed) == 0;
}

void Recorder::end(std::uint64_t now, std::uint64_t cpu_time) {
  if (!control_ || control_->end_time != 0) return;
  auto expected = static_cast<std::uint32_t>(State::recording);
  atomic(control_->state)
      .compare_exchange_strong(expected, static_cast<std::uint32_t>(State::ended));
  control_->cpu_time = cpu_time;
  atomic(control_->end_time).store(now, std::memory_order_release);
  close();
}

// Takes every lane and keeps it, so that nobody writes any more.
bool Recorder::take_lanes() {
  constexpr std::uint64_t kPatience = 100'000'000;  // ns
  std::uint64_t limit = 0;
  for (std::uint32_t i = 0; i < lane_count_; ++i)
    while (atomic(lanes_[i].busy).exchange(1, std::memory_order_acquire) != 0) {
      if (limit == 0) limit = now(CLOCK_MONOTONIC) + kPatience;
      if (now(CLOCK_MONOTONIC) > limit) return false;
      raw_syscall(SYS_sched_yield);
    }
  return true;
}

void Recorder::close() {
  if (!take_lanes()) return;
  for (std::uint32_t i = 0; i < lane_count_; ++i)
    for (Lane::OpenBlock& open : lanes_[i].open) close_block(open);
  stacks_.close();
  auto* closed = reinterpret_cast<format::ClosedPage*>(reinterpret_cast<char*>(control_) +
                                                       format::kClosedPageOffset);
  const format::ControlPage page = copy_of(*control_);
  closed->page = page;
  atomic(closed->check).store(format::page_check(page), std::memory_order_release);
  closed_ = 1;
}

void Recorder::fail(Failure failure, int error) {
  std::uint32_t none = 0;
  if (atomic(control_->failure).compare_exchange_strong(none, static_cast<std::uint32_t>(failure)))
    control_->failure_errno = error;
  atomic(control_->state).store(static_cast<std::uint32_t>(State::failed));
}

void Recorder::drop(format::Drop drop) {
  atomic(control_->dropped[static_cast<std::uint32_t>(drop)])
      .fetch_add(1, std::memory_order_relaxed);
}

void Recorder::count_map_line() {
  atomic(control_->map_lines).fetch_add(1, std::memory_order_release);
}

std::uint32_t Recorder::epoch() const { return atomic(epoch_).load(std::memory_order_acquire); }

bool Recorder::begin_epoch(std::uint32_t next) {
  std::uint32_t before = next - 1;
  return atomic(epoch_).compare_exchange_strong(before, next);
}

// Starts at the lane of this CPU: it is free unless a thread was preempted inside it.
Lane* Recorder::enter() {
  const int cpu = sched_getcpu();
  const std::uint32_t first = cpu < 0 ? 0 : static_cast<std::uint32_t>(cpu);
  for (std::uint32_t i = 0; i < lane_count_; ++i) {
    Lane& lane = lanes_[(first + i) % lane_count_];
    if (atomic(lane.busy).exchange(1, std::memory_order_acquire) == 0) return &lane;
  }
  drop(format::Drop::lanes_busy);
  return nullptr;
}

void Recorder::leave(Lane& lane) { atomic(lane.busy).store(0, std::memory_order_release); }

bool Recorder::next_block(Lane& lane, format::DataKind kind) {
  const auto k = static_cast<std::uint32_t>(kind);
  Lane::OpenBlock& open = lane.open[k];
  close_block(open);
  const std::uint32_t index = atomic(control_->blocks[k]).fetch_add(1, std::memory_order_relaxed);
  const Range range =
      map_range(data_path_[k], std::uint64_t{index} * format::kBlockBytes, format::kBlockBytes);
  if (!range.at) {
    fail(range.failure, range.error);
    return false;
  }
  atomic(control_->mapped[k]).fetch_add(1, std::memory_order_release);
  auto* header = static_cast<format::BlockHeader*>(range.at);
  header->major = format::kFormatMajor;
  header->kind = static_cast<std::uint16_t>(kind);
  header->index = index;
  header->session = control_->session;
  atomic(header->magic).store(format::kBlockMagic, std::memory_order_release);
  open = {static_cast<char*>(range.at), sizeof(format::BlockHeader), 0, 0};
  return true;
}

bool Recorder::put_words(Lane& lane, const format::EventKind& kind, std::uint32_t* words,
                         std::uint32_t bytes) {
  Lane::OpenBlock& open = lane.open[static_cast<std::uint32_t>(kind.file)];
  if (!open.at || open.used + bytes > format::kBlockBytes)
    if (!next_block(lane, kind.file)) return false;
  const std::uint64_t digest = format::record_digest(kind.id, words, bytes);
  const format::RecordWord word{kind.id, static_cast<std::uint8_t>(bytes / 8),
                                format::record_check(digest)};
  std::memcpy(words, &word, sizeof word);
  auto* to = reinterpret_cast<std::uint32_t*>(open.at + open.used);
  std::memcpy(to + 1, words + 1, bytes - sizeof *words);
  atomic(*to).store(words[0], std::memory_order_release);
  open.used += bytes;
  open.chain = format::digest_step(open.chain, digest);
  auto* header = reinterpret_cast<format::BlockHeader*>(open.at);
  atomic(header->count).store(++open.count, std::memory_order_release);
  return true;
}

}  // namespace gnomon::collector
