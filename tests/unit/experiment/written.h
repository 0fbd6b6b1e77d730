// An experiment as the collector writes one, in a directory that is gone after the test.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <string>
#include <vector>

#include "libcollector/core/json_line.h"
#include "libcollector/format/names.h"
#include "libcollector/record/event_rows.h"
#include "libcollector/record/file_space.h"
#include "libcollector/record/recorder.h"
#include "reader/experiment/recording.h"
#include "reader/metrics/sums.h"

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

inline bool write_line(const collector::ExperimentDirectory& directory, const char* name,
                       collector::JsonLine& line, const char* text) {
  const std::size_t length = line.finish();
  return length != 0 && !collector::append_text({directory, name}, text, length);
}

inline std::string header_line(std::uint64_t major = format::kFormatMajor, std::uint64_t pid = 1) {
  char text[8192];
  collector::JsonLine line(0, text, sizeof text);
  line.open("format", '{').number("major", major).number("minor", 0).close('}');
  line.hex("session", kSession).number("pid", pid).open("argv", '[').item("x").close(']');
  collector::write_events(line);
  return {text, line.finish()};
}

inline bool write_header(const collector::ExperimentDirectory& directory, const std::string& line) {
  return !collector::append_text({directory, format::kNewHeaderFile}, line.data(), line.size()) &&
         directory.rename_file(format::kNewHeaderFile, format::kHeaderFile) == 0;
}

// A load object, at these addresses of the process.
struct Loaded {
  std::string path = "/gone";
  std::uint64_t begin = 0x1000, end = 0x2000, bias = 0;
};

inline bool write_map(collector::Recorder& recorder, const Loaded& object) {
  char text[512];
  collector::JsonLine line(kSession, text, sizeof text);
  line.number("line", recorder.next_map_line())
      .text("event", "load")
      .hex("begin", object.begin)
      .hex("end", object.end);
  line.hex("bias", object.bias).text("path", object.path.c_str());
  if (!write_line(recorder.directory(), format::kMapFile, line, text)) return false;
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
                             std::uint32_t writers, const std::string& header = header_line(),
                             const Loaded& object = {}) {
  if (recorder.directory().open_path(directory.path().c_str()) != 0 ||
      !recorder.open(kSession, 1, 1).at || !write_header(recorder.directory(), header) ||
      !recorder.open_storage(writers).at || !write_map(recorder, object))
    return false;
  recorder.begin(1000);
  return true;
}

// The node of a call stack, leaf first; 0: failed.
inline std::uint32_t intern(collector::Recorder& recorder, collector::Writer& writer,
                            const std::vector<std::uint64_t>& stack) {
  std::copy(stack.begin(), stack.end(), writer.frames);
  return recorder.intern(writer, static_cast<std::uint32_t>(stack.size()), false,
                         [](std::uint64_t, collector::Writer&) {});
}

// Records one sample, leaf first. Returns false if it was not recorded.
inline bool record(collector::Recorder& recorder, const std::vector<std::uint64_t>& stack,
                   std::uint64_t weight, std::uint32_t thread = 0) {
  collector::Writer* writer = recorder.enter();
  if (!writer) return false;
  format::ClockSample sample{};
  sample.head.thread = thread;
  sample.weight = weight;
  sample.head.stack = intern(recorder, *writer, stack);
  const bool put = sample.head.stack != 0 && recorder.put(*writer, format::kClockSample, sample);
  recorder.leave(*writer);
  return put;
}

// What an experiment says: its sums, and the stacks they are of, each whole to its outermost frame.
struct Read {
  reader::Recording recording;
  reader::Sums sums;
};
inline Result<Read> read_all(const std::string& directory) {
  auto recording = reader::Recording::open(directory);
  if (!recording) return tl::unexpected(recording.error());
  Read all{std::move(*recording), {}};
  reader::StackRoom room(directory);
  auto any = all.recording.update({}, [&](const reader::Event& event) -> Result<void> {
    if (all.sums.add(event, room)) return {};
    return fault("an event has a wrong call stack");
  });
  if (!any) return tl::unexpected(any.error());
  const reader::Stacks& stacks = all.recording.stacks();
  for (std::uint32_t id = 1; id < all.sums.used().size(); ++id)
    if (all.sums.used()[id])
      for (StackId at{id}; at != StackId::none; at = stacks.parent(at))
        if (!stacks.contains(at)) return fault("a stack is missing");
  return all;
}

inline Result<std::uint64_t> total_of(const std::string& directory) {
  const auto all = read_all(directory);
  if (!all) return tl::unexpected(all.error());
  return all->sums.total(reader::kTotalCpu);
}

// One writer: with more, a test that moves to another CPU begins another block.
class Written : public testing::Test {
 protected:
  void SetUp() override {
    recorder_ = new_recorder();
    ASSERT_TRUE(recorder_);
    ASSERT_TRUE(begin_experiment(directory_, *recorder_, 1));
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
