// The kernel's ring buffer of one CPU, into which events of other processes write. In
// gnomon-sampler.
#include "libcollector/outside/ring.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gnomon::outside {
namespace {

const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

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
  if (memory_) munmap(memory_, kPage + bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

Ring::Ring(Ring&& other) noexcept
    : cpu_(other.cpu_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      at_(other.at_),
      end_(other.end_) {}

int Ring::open(int cpu, std::size_t bytes) {
  perf_event_attr attributes = common_attributes();
  attributes.exclude_kernel = 1;
  attributes.watermark = 1;
  attributes.wakeup_watermark = static_cast<std::uint32_t>(bytes / 4);
  const int descriptor = open_event(attributes, 0, cpu);
  if (descriptor < 0) return -descriptor;
  descriptor_ = descriptor;
  cpu_ = cpu;
  // EPERM: the user's rings together have reached perf_event_mlock_kb and RLIMIT_MEMLOCK.
  for (bytes_ = bytes; bytes_ >= 4 * kPage; bytes_ /= 2) {
    void* memory =
        mmap(nullptr, kPage + bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory != MAP_FAILED) {
      memory_ = static_cast<char*>(memory);
      return 0;
    }
    if (errno != EPERM && errno != ENOMEM) break;
  }
  return errno;
}

void Ring::look() {
  const auto* page = reinterpret_cast<const perf_event_mmap_page*>(memory_);
  end_ = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  find_front();
}

// A record without a size would be the kernel's fault: what follows is lost.
void Ring::find_front() {
  front_ = nullptr;
  if (at_ == end_) return;
  char* data = memory_ + kPage;
  const std::size_t place = at_ % bytes_;
  const auto* header = reinterpret_cast<const perf_event_header*>(data + place);
  if (header->size < sizeof *header) {
    at_ = end_;
    return;
  }
  front_ = header;
  if (place + header->size <= bytes_) return;
  joined_.resize((header->size + 7) / 8);
  const std::size_t first = bytes_ - place;
  std::memcpy(joined_.data(), data + place, first);
  std::memcpy(reinterpret_cast<char*>(joined_.data()) + first, data, header->size - first);
  front_ = reinterpret_cast<const perf_event_header*>(joined_.data());
}

void Ring::pop() {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(memory_);
  at_ += front_->size;
  __atomic_store_n(&page->data_tail, at_, __ATOMIC_RELEASE);
  find_front();
}

}  // namespace gnomon::outside
