// An experiment of one thread that a test writes, and its reports, compared with what is stored in
// golden/.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "commands/base/command.h"
#include "libcollector/record/overview.h"
#include "tests/unit/experiment/written.h"
#include "tests/unit/main.h"

namespace gnomon::test {

inline constexpr std::uint64_t kMs = 1'000'000, kBias = 0x10000;

// Knows some instructions by their addresses, and no others.
class KnownInstructions : public reader::Disassembler {
 public:
  std::vector<reader::Instruction> known;
  Result<std::vector<reader::Instruction>> decode(std::span<const unsigned char> code,
                                                  std::uint64_t address) override {
    std::vector<reader::Instruction> found;
    for (const reader::Instruction& each : known)
      if (each.address == address && each.address + each.bytes <= address + code.size()) {
        found.push_back(each);
        address += each.bytes;
        code = code.subspan(each.bytes);
      }
    return found;
  }
};

class ExperimentHost : public commands::Host {
 public:
  ExperimentHost(std::string experiment, reader::Disassembler& disassembler,
                 reader::Backtrace backtrace)
      : experiment_(std::move(experiment)),
        disassembler_(disassembler),
        backtrace_(std::move(backtrace)) {}
  Result<reader::Backtrace> backtrace() override {
    return backtrace_.empty() ? Host::backtrace() : backtrace_;
  }
  Result<std::string> set_breakpoint(const reader::Function& function) override {
    return "Breakpoint 1 at " + function.name + ".\n";
  }
  Result<reader::Disassembler*> disassembler() override { return &disassembler_; }
  Result<std::string> experiment() override { return experiment_; }
  Result<std::string> function() override { return std::string("_ZN4work4halfEm"); }
  std::size_t default_limit() const override { return 0; }
  reader::TextStyle style() const override { return {}; }
  Interrupt interrupt() const override { return {}; }
  std::string state() override { return ""; }

 private:
  std::string experiment_;
  reader::Disassembler& disassembler_;
  reader::Backtrace backtrace_;
};

inline std::string golden_header() {
  char text[8192];
  collector::JsonLine line(0, text, sizeof text);
  line.open("format", '{').number("major", format::kFormatMajor).number("minor", 0).close('}');
  line.hex("session", test::kSession).number("pid", 77);
  line.open("argv", '[').item("demo").item("-x").close(']').text("executable", "/bin/demo");
  line.open("clock", '{').text("source", "CLOCK_THREAD_CPUTIME_ID").text("timer", "perf");
  line.number("interval", 10 * kMs).close('}');
  line.open("stacks", '{').text("walk", "unwind tables").close('}');
  collector::write_events(line);
  return {text, line.finish()};
}

class GoldenTest : public testing::Test {
 protected:
  void SetUp() override {
    recorder_ = test::new_recorder();
    ASSERT_TRUE(recorder_);
    object_ = object();
    ASSERT_FALSE(object_.empty());
    ASSERT_TRUE(test::begin_experiment(directory_, *recorder_, 2, golden_header(),
                                       {object_, kBias + 0x1000, kBias + 0x20000, kBias}));
  }
  // The path of the load object, which is loaded at kBias; empty: there is none.
  virtual std::string object() = 0;
  void TearDown() override {
    if (recorder_) munmap(recorder_, sizeof(collector::Recorder));
  }

  // The stack is given leaf first, by addresses in the object's file.
  std::uint32_t stack_of(collector::Writer& writer, std::vector<std::uint64_t> stack,
                         bool is_cut = false) {
    for (std::uint64_t& pc : stack) pc += kBias;
    std::copy(stack.begin(), stack.end(), writer.frames);
    return recorder_->intern(writer, static_cast<std::uint32_t>(stack.size()), is_cut,
                             [](std::uint64_t, collector::Writer&) {});
  }

  // What a clock tells that ticks in the kernel or not.
  struct Told {
    format::ThreadState state = format::ThreadState::unknown;
    bool is_rest = false;
    std::optional<format::Activity> activity = {};  // instead of a call stack
    std::uint64_t length = 0;                       // see format::ClockSample
    std::uint16_t parallelism = 0;
  };
  void tell(const std::vector<std::uint64_t>& stack, std::uint64_t weight, const Told& told) {
    told_ = told;
    tick(stack, weight);
    told_ = {};
  }

  void tick(const std::vector<std::uint64_t>& stack, std::uint64_t weight, bool is_cut = false) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    format::ClockSample sample{};
    sample.head.state = static_cast<std::uint8_t>(told_.state);
    sample.head.flags = told_.is_rest ? format::kRest : 0;
    now_ += weight;
    sample.head.thread = thread_;
    sample.head.time = now_;
    sample.head.cpu = cpu_;
    sample.head.stack = told_.activity
                            ? stack_of(*writer, {format::activity_frame(*told_.activity) - kBias})
                            : stack_of(*writer, stack, is_cut);
    sample.weight = weight;
    std::memcpy(sample.length, &told_.length, sizeof sample.length);
    sample.parallelism = told_.parallelism;
    EXPECT_TRUE(recorder_->put(*writer, format::kClockSample, sample));
    recorder_->leave(*writer);
  }

  // See format::CpuUse.
  void use(std::uint64_t length, std::uint64_t idle) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    format::CpuUse record{};
    record.head.thread = 77;
    record.head.time = now_ += length;
    record.length = length;
    record.idle = idle;
    EXPECT_TRUE(recorder_->put(*writer, format::kCpuUse, record));
    recorder_->leave(*writer);
  }

  // Of a counter, or of what is watched by that number. activity: instead of a call stack.
  void count(std::uint8_t kind, const std::vector<std::uint64_t>& stack, std::uint64_t weight,
             std::uint32_t watch = 0, std::optional<format::Activity> activity = {}) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    now_ += kMs;
    format::EventHead head{};
    head.thread = thread_;
    head.time = now_;
    head.cpu = cpu_;
    head.flags = activity ? format::kRest : 0;
    head.stack = activity ? stack_of(*writer, {format::activity_frame(*activity) - kBias})
                          : stack_of(*writer, stack);
    if (kind < format::kFirstCounter) {
      format::Touch touch{head, weight, watch, 0};
      EXPECT_TRUE(recorder_->put(*writer, kind, touch));
    } else {
      format::CounterEvent event{head, weight, 0x7000};
      format::EventKind row = *format::find_event_kind(format::kFirstCounter);
      row.id = kind;
      EXPECT_TRUE(recorder_->put(*writer, row, event));
    }
    recorder_->leave(*writer);
  }

  void allocate(const std::vector<std::uint64_t>& stack, std::uint64_t address,
                std::uint64_t bytes) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    format::HeapAllocation made{0, stack_of(*writer, stack), 0, bytes};
    now_ += kMs;
    EXPECT_TRUE(recorder_->put_compact<format::kHeapAllocation>(writer->lanes, {78, 0, now_},
                                                                address, made));
    recorder_->leave(*writer);
  }

  // kHeapKept: realloc failed.
  template <std::uint8_t Kind = format::kHeapFree>
  void give_back(std::uint64_t address) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    format::HeapFree freed{};
    now_ += kMs;
    EXPECT_TRUE(recorder_->put_compact<Kind>(writer->lanes, {78, 0, now_}, address, freed));
    recorder_->leave(*writer);
  }

  // Of the current thread, up to now.
  void wait(const std::vector<std::uint64_t>& stack, format::WaitKind kind, std::uint64_t object,
            std::uint64_t duration, std::uint32_t holder) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    format::Wait record{};
    record.head.thread = thread_;
    record.head.time = now_;
    record.head.cpu = cpu_;
    record.head.stack = stack_of(*writer, stack);
    record.object = object;
    record.duration = duration;
    record.kind = static_cast<std::uint32_t>(kind);
    record.holder = holder;
    EXPECT_TRUE(recorder_->put(*writer, format::kWait, record));
    recorder_->leave(*writer);
  }

  // Of the current thread, up to now.
  void io(const std::vector<std::uint64_t>& stack, format::IoOperation operation,
          std::uint32_t file, std::uint64_t bytes, std::uint64_t duration, int error = 0) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    now_ += duration;
    format::Io record{};
    record.head.thread = thread_;
    record.head.time = now_;
    record.head.cpu = cpu_;
    record.head.stack = stack_of(*writer, stack);
    record.head.state = static_cast<std::uint8_t>(error);
    record.head.flags = static_cast<std::uint8_t>(operation);
    std::memcpy(record.bytes, &bytes, sizeof record.bytes);
    std::memcpy(record.duration, &duration, sizeof record.duration);
    record.file = file;
    EXPECT_TRUE(recorder_->put(*writer, format::kIo, record));
    recorder_->leave(*writer);
  }
  void name_file(std::uint32_t file, std::int32_t descriptor, std::string_view name) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    for (std::uint32_t part = 0; part == 0 || !name.empty(); ++part) {
      format::FileName record{};
      record.head.thread = thread_;
      record.head.time = now_;
      record.file = file;
      record.descriptor = descriptor;
      record.part = part;
      name.remove_prefix(name.copy(record.text, sizeof record.text));
      EXPECT_TRUE(recorder_->put(*writer, format::kFileName, record));
    }
    recorder_->leave(*writer);
  }

  // A sample whose every figure is a multiple of `factor`. A thread of its own has half of that.
  void sample(format::SampleEvent event, const char* label, std::uint64_t factor,
              std::uint32_t thread = 0) {
    format::Figures figures = format::unknown_figures();
    for (const format::FigureRow& row : format::kFigures)
      figure(figures, row.figure) = row.unit == format::Unit::nanoseconds ? factor * kMs : factor;
    figure(figures, format::Figure::storage_read) = format::kUnknownFigure;
    figure(figures, format::Figure::threads) = 1;
    char text[2048];
    collector::JsonLine line(test::kSession, text, sizeof text);
    collector::begin_sample(line, recorder_->control()->overview_lines++, event, label, now_,
                            figures);
    if (thread != 0) {
      format::Figures own = format::unknown_figures();
      figure(own, format::Figure::cpu) = factor * kMs / 2;
      line.open("of_threads", '[').open_item('{').number("thread", thread).text("name", "worker");
      write_figures(line, own);
      line.close('}').close(']');
    }
    EXPECT_TRUE(test::write_line(recorder_->directory(), format::kOverviewFile, line, text));
  }

  // The debugger stops the program.
  void stop(const char* reason) { log(format::kLogStop, reason); }

  void log(const char* event, const char* reason) {
    char text[256];
    collector::JsonLine line(test::kSession, text, sizeof text);
    line.number("line", recorder_->control()->log_lines++)
        .text("event", event)
        .number("time", now_);
    if (*reason) line.text(format::kLogReason, reason);
    EXPECT_TRUE(test::write_line(recorder_->directory(), format::kLogFile, line, text));
  }

  void end(std::uint64_t cpu_time) { recorder_->end(now_, cpu_time); }

  // One command after the other, as a user of one session types them.
  std::string transcript(const std::vector<std::string>& lines) {
    ExperimentHost host(directory_.path(), instructions_, backtrace_);
    std::string text;
    for (const std::string& line : lines) {
      std::istringstream words(line);
      std::string name;
      words >> name;
      const std::vector<std::string> rest{std::istream_iterator<std::string>(words), {}};
      text += "> " + line + "\n";
      auto command = commands::find_command(name);
      if (const auto printed = commands::find_command(name, true); !command && printed)
        command = printed;
      const auto answer = command ? execute(host, **command, rest)
                                  : Result<commands::Answer>(tl::unexpected(command.error()));
      text += answer ? answer->text : "error: " + sentence(answer.error()) + "\n";
      if (answer)
        for (const std::string& warning : answer->warnings) text += "warning: " + warning + "\n";
      text += "\n";
    }
    for (const auto& [path, name] :
         {std::pair(directory_.path(), "demo.1.er"), std::pair(std::string(GNOMON_TARGETS), "/bin"),
          std::pair(std::string(GNOMON_SOURCE), "/src")})
      for (auto at = text.find(path); at != std::string::npos; at = text.find(path))
        text.replace(at, path.size(), name);
    return text;
  }

  void expect(const std::string& name, const std::vector<std::string>& lines) {
    const std::string path = std::string(GNOMON_SOURCE "/tests/unit/report/golden/") + name;
    const std::string now = transcript(lines);
    if (test::is_update) {
      std::ofstream(path) << now;
      return;
    }
    std::ostringstream stored;
    stored << std::ifstream(path).rdbuf();
    EXPECT_EQ(now, stored.str()) << "`unit_tests --update` stores what the reports say now";
  }

  test::Directory directory_;
  KnownInstructions instructions_;
  reader::Backtrace backtrace_;  // of a stopped thread; empty: no process is stopped
  std::string object_;
  collector::Recorder* recorder_ = nullptr;
  std::uint64_t now_ = 1000;
  std::uint32_t thread_ = 77;
  std::uint16_t cpu_ = 1;
  Told told_{};
};

}  // namespace gnomon::test
