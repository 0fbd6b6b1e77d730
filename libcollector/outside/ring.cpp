// The kernel's ring buffer of one CPU, into which events of other processes write. In
// gnomon-sampler.
#include "libcollector/outside/ring.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gnomon::outside {
namespace {

const std::size_t kSystemPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

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
  if (descriptor_ >= 0) close(descriptor_);
}

int Ring::open(int cpu, std::size_t bytes, std::size_t most_kept) {
  perf_event_attr attributes = common_attributes();
  attributes.exclude_kernel = 1;
  attributes.watermark = 1;
  attributes.wakeup_watermark = static_cast<std::uint32_t>(bytes / 4);
  const int descriptor = open_event(attributes, 0, cpu);
  if (descriptor < 0) return -descriptor;
  descriptor_ = descriptor;
  cpu_ = cpu;
  most_kept_ = most_kept;
  // EPERM: the user's rings together have reached perf_event_mlock_kb and RLIMIT_MEMLOCK.
  for (bytes_ = bytes; bytes_ >= 4 * kSystemPage; bytes_ /= 2) {
    void* memory =
        mmap(nullptr, kSystemPage + bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory != MAP_FAILED) {
      memory_ = static_cast<char*>(memory);
      return 0;
    }
    if (errno != EPERM && errno != ENOMEM) break;
  }
  return errno;
}

void Ring::fetch() {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(memory_);
  const std::lock_guard lock(guard_);
  const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  if (fetched_.size() > most_kept_) return;
  while (tail_ != head) {
    const std::size_t place = tail_ % bytes_;
    const std::size_t piece = std::min<std::uint64_t>(head - tail_, bytes_ - place);
    const char* from = memory_ + kSystemPage + place;
    fetched_.insert(fetched_.end(), from, from + piece);
    tail_ += piece;
  }
  __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

void Ring::look() {
  fetch();
  find_front();
}

// What has been fetched is read next. Returns false if there is nothing.
bool Ring::turn() {
  constexpr std::size_t kUsual = 4 << 20;  // bytes
  if (reading_.capacity() > kUsual) std::vector<char>().swap(reading_);
  reading_.clear();
  at_ = 0;
  const std::lock_guard lock(guard_);
  reading_.swap(fetched_);
  return !reading_.empty();
}

// A record without a size would be the kernel's fault: what follows is lost.
void Ring::find_front() {
  front_ = nullptr;
  if (at_ == reading_.size() && !turn()) return;
  const std::size_t left = reading_.size() - at_;
  const auto* header = reinterpret_cast<const perf_event_header*>(reading_.data() + at_);
  if (left < sizeof *header || header->size < sizeof *header || header->size > left)
    at_ = reading_.size();
  else
    front_ = header;
}

void Ring::pop() {
  at_ += front_->size;
  find_front();
}

void keep_emptying(Rings& rings, int wake) {
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
