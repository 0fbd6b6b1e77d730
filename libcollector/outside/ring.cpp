// The kernel's ring buffer of one CPU, into which events of other processes write. In
// gnomon-sampler.
#include "libcollector/outside/ring.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

namespace gnomon::outside {
namespace {

const std::size_t kSystemPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

// Bytes of a ring. The usual one is what perf_event_mlock_kb allows each user by default; a larger
// one lasts longer when this program does not get a CPU at once.
constexpr std::size_t kUsualRing = 512 << 10, kLargestRing = 8 << 20, kMostRings = 16 << 20;
// The kernel wakes this program when so much waits.
constexpr std::size_t kMostUnread = 1 << 20;
// What is kept in this program's memory, all CPUs together, while the disk is slow.
constexpr std::size_t kMostKept = 256 << 20;

// ENODEV: a CPU that is not online.
int open_rings_of(Rings& rings, int cpus, std::size_t bytes, std::size_t most_kept) {
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int error = rings.emplace_back().open(cpu, bytes, most_kept);
    if (error != 0) rings.pop_back();
    if (error != 0 && error != ENODEV) return error;
  }
  return rings.empty() ? ENODEV : 0;
}

// The scheduler lets a thread of short turns run sooner (sched_setattr(2), sched_runtime; Linux
// 6.12). Where that is not possible the thread waits for its turn like others.
void ask_for_short_turns() {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;  // ns
  } attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  attributes.runtime = 100'000;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

int open_event(const perf_event_attr& attributes, int pid, int cpu) {
  const long descriptor =
      syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

perf_event_attr common_attributes() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.exclude_hv = 1;
  return attributes;
}

Ring::~Ring() {
  if (memory_) munmap(memory_, kSystemPage + bytes_);
  if (kept_) munmap(kept_, room_);
  if (descriptor_ >= 0) close(descriptor_);
}

int Ring::open(int cpu, std::size_t bytes, std::size_t most_kept) {
  perf_event_attr attributes = common_attributes();
  attributes.exclude_kernel = 1;
  attributes.watermark = 1;
  attributes.wakeup_watermark = static_cast<std::uint32_t>(std::min(bytes / 4, kMostUnread));
  const int descriptor = open_event(attributes, 0, cpu);
  if (descriptor < 0) return -descriptor;
  descriptor_ = descriptor;
  cpu_ = cpu;
  void* memory =
      mmap(nullptr, kSystemPage + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) return errno;
  memory_ = static_cast<char*>(memory);
  bytes_ = bytes;
  room_ = std::max(most_kept, 2 * bytes);
  memory = mmap(nullptr, room_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
  if (memory == MAP_FAILED) return errno;
  kept_ = static_cast<char*>(memory);
  return 0;
}

void Ring::fetch() {
  const std::lock_guard lock(guard_);
  move_in();
}

// All or nothing, so that no record is torn.
void Ring::move_in() {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(memory_);
  const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  if (head - tail_ > room_ - written_) return;
  while (tail_ != head) {
    const std::size_t place = tail_ % bytes_;
    const std::size_t piece = std::min<std::uint64_t>(head - tail_, bytes_ - place);
    std::memcpy(kept_ + written_, memory_ + kSystemPage + place, piece);
    written_ += piece;
    tail_ += piece;
  }
  touched_ = std::max(touched_, written_);
  __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

// Moves what has not been read to the beginning, if that is worth its cost.
void Ring::make_room() {
  constexpr std::size_t kUsual = 4 << 20;  // bytes
  const std::size_t left = written_ - read_;
  if (left > read_) return;
  std::memcpy(kept_, kept_ + read_, left);
  read_ = 0;
  written_ = left;
  if (touched_ <= kUsual || written_ > kUsual) return;
  madvise(kept_ + kUsual, room_ - kUsual, MADV_DONTNEED);
  touched_ = kUsual;
}

void Ring::look() {
  const std::lock_guard lock(guard_);
  make_room();
  move_in();
  find_front();
}

void Ring::pop() {
  const std::lock_guard lock(guard_);
  read_ += front_->size;
  find_front();
}

// A record without a size would be the kernel's fault: what follows is lost.
void Ring::find_front() {
  front_ = nullptr;
  const std::size_t left = written_ - read_;
  if (left == 0) return;
  const auto* header = reinterpret_cast<const perf_event_header*>(kept_ + read_);
  if (left < sizeof *header || header->size < sizeof *header || header->size > left)
    read_ = written_;
  else
    front_ = header;
}

int open_rings(Rings& rings) {
  const auto cpus = static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_CONF));
  const std::size_t most = std::clamp(std::bit_floor(kMostRings / cpus), kUsualRing, kLargestRing);
  int error = 0;
  for (std::size_t bytes = most; bytes >= 4 * kSystemPage; bytes /= 2) {
    rings.clear();
    error = open_rings_of(rings, static_cast<int>(cpus), bytes, kMostKept / cpus);
    if (error != EPERM && error != ENOMEM) break;
  }
  return error;
}

void keep_emptying(Rings& rings, int wake) {
  ask_for_short_turns();
  std::vector<pollfd> events;
  for (const Ring& ring : rings) events.push_back({ring.descriptor(), POLLIN, 0});
  for (;;) {
    if (poll(events.data(), events.size(), -1) <= 0) continue;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].revents & POLLIN) rings[i].fetch();
      if (events[i].revents & ~POLLIN) events[i].fd = -1;  // poll would return at once for ever
    }
    eventfd_write(wake, 1);
  }
}

}  // namespace gnomon::outside
