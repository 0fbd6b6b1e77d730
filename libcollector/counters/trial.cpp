// Whether the kernel counts an event: it is opened on this program itself. In gnomon-counters.
#include "libcollector/counters/trial.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace gnomon::counters {
namespace {

perf_event_attr attributes_of(const format::Counter& counter) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  format::count(counter, attributes);
  if (counter.precise != 0) attributes.sample_type = PERF_SAMPLE_ADDR;
  return attributes;
}

int open_on_self(const perf_event_attr& attributes) {
  const long file = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return file < 0 ? -errno : static_cast<int>(file);
}

void compute_for_a_moment() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

int try_event(format::Counter& counter) {
  int file = open_on_self(attributes_of(counter));
  if (file == -EACCES && counter.is_of_system && counter.is_of_user) {
    counter.is_of_system = false;
    file = open_on_self(attributes_of(counter));
  }
  if (file < 0) return -file;
  close(file);
  return 0;
}

// A pinned event that finds no counter is in error, and read(2) gives nothing (perf_event_open(2),
// pinned). Others would take turns.
std::size_t first_without_room(const std::vector<format::Counter>& counters) {
  std::vector<int> files;
  std::size_t found = counters.size();
  for (const format::Counter& counter : counters) {
    perf_event_attr attributes = attributes_of(counter);
    attributes.pinned = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    files.push_back(open_on_self(attributes));
  }
  compute_for_a_moment();
  for (std::size_t i = 0; i < files.size(); ++i) {
    struct {
      std::uint64_t count, enabled, running;
    } seen{};
    Turn turn{files[i] < 0 ? -1 : read(files[i], &seen, sizeof seen), seen.enabled, seen.running};
    if (!had_a_counter(turn) && i < found) found = i;
  }
  for (const int file : files)
    if (file >= 0) close(file);
  return found;
}

}  // namespace gnomon::counters
