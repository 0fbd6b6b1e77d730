// An experiment as the collector writes one, in a directory that is gone after the test.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <string>
#include <vector>

#include "libcollector/core/json_line.h"
#include "libcollector/format/names.h"
#include "libcollector/record/file_space.h"
#include "libcollector/record/recorder.h"
#include "reader/experiment/events.h"
#include "reader/experiment/stacks.h"

namespace gnomon::test {

inline constexpr std::uint64_t kSession = 0x1234;

class Directory {
 public:
  Directory() {
    char name[] = "/tmp/gnomon-XXXXXX";
    if (mkdtemp(name)) path_ = name;
  }
  ~Directory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline bool write_line(const std::string& path, collector::JsonLine& line, const char* text) {
  const std::size_t length = line.finish();
  return length != 0 && collector::append_text(path.c_str(), text, length);
}

inline bool write_header(const Directory& directory, std::uint64_t major) {
  char text[512];
  collector::JsonLine line(text, sizeof text);
  line.open("format", '{').number("major", major).number("minor", 0).close('}');
  line.hex("session", kSession).number("pid", 1).open("argv", '[').item("x").close(']');
  const std::string path = directory.file(format::kHeaderFile), fresh = path + ".new";
  return write_line(fresh, line, text) && rename(fresh.c_str(), path.c_str()) == 0;
}

inline bool write_map(const Directory& directory, collector::Recorder& recorder) {
  char text[512];
  collector::JsonLine line(text, sizeof text);
  line.text("event", "load").hex("begin", 0x1000).hex("end", 0x2000).hex("bias", 0);
  line.text("path", "/gone");
  if (!write_line(directory.file(format::kMapFile), line, text)) return false;
  recorder.count_map_line();
  return true;
}

// Memory as the collector's session gets it; null on failure.
inline collector::Recorder* new_recorder() {
  void* memory = mmap(nullptr, sizeof(collector::Recorder), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || madvise(memory, sizeof(collector::Recorder), MADV_WIPEONFORK) != 0)
    return nullptr;
  return static_cast<collector::Recorder*>(memory);
}

// The collector's order.
inline bool begin_experiment(const Directory& directory, collector::Recorder& recorder,
                             std::uint32_t lanes) {
  if (!recorder.open(directory.path().c_str(), kSession, 1).at || !write_header(directory, 1) ||
      !recorder.open_storage(lanes).at || !write_map(directory, recorder))
    return false;
  recorder.begin(1000);
  return true;
}

// Records one sample, leaf first. False: not recorded.
inline bool record(collector::Recorder& recorder, const std::vector<std::uint64_t>& stack,
                   std::uint64_t weight) {
  collector::Lane* lane = recorder.enter();
  if (!lane) return false;
  std::copy(stack.begin(), stack.end(), lane->frames);
  format::ClockSample sample{};
  sample.weight = weight;
  sample.stack = recorder.intern(*lane, static_cast<std::uint32_t>(stack.size()), false,
                                 [](std::uint64_t, collector::Lane&) {});
  const bool put = sample.stack != 0 && recorder.put(*lane, format::kEventKinds[0], sample);
  recorder.leave(*lane);
  return put;
}

// Total weight, with every stack checked to its outermost frame.
inline Result<std::uint64_t> total_of(const std::string& directory) {
  auto experiment = reader::open_experiment(directory);
  if (!experiment) return tl::unexpected(experiment.error());
  auto sums = reader::sum_clock_samples(*experiment);
  if (!sums) return tl::unexpected(sums.error());
  auto stacks = reader::Stacks::open(*experiment);
  if (!stacks) return tl::unexpected(stacks.error());
  for (std::uint32_t id = 1; id < sums->by_stack.size(); ++id)
    if (sums->by_stack[id].samples != 0)
      for (StackId at{id}; at != StackId::none; at = stacks->parent(at))
        if (!stacks->contains(at)) return fault("a stack is missing");
  return sums->total.time.value;
}

class Written : public testing::Test {
 protected:
  void SetUp() override {
    recorder_ = new_recorder();
    ASSERT_TRUE(recorder_);
    ASSERT_TRUE(begin_experiment(directory_, *recorder_, 2));
  }
  void TearDown() override {
    if (recorder_) munmap(recorder_, sizeof(collector::Recorder));
  }
  void sample(std::uint64_t leaf, std::uint64_t weight) {
    ASSERT_TRUE(record(*recorder_, {leaf, 0x1100}, weight));
  }
  Result<std::uint64_t> total() const { return total_of(directory_.path()); }

  Directory directory_;
  collector::Recorder* recorder_ = nullptr;
};

}  // namespace gnomon::test
