// Reports on experiments that the test writes, compared with what is stored in golden/. `unit_tests
// --update` stores what the reports say now.
#include <fstream>
#include <sstream>

#include "commands/command.h"
#include "libcollector/record/overview.h"
#include "tests/unit/experiment/written.h"
#include "tests/unit/main.h"
#include "tests/unit/report/fixture.h"

using namespace gnomon;

namespace {

constexpr std::uint64_t kMs = 1'000'000, kBias = 0x10000;

const std::vector<test::FixtureFunction> kFunctions{
    {"main", 0x1000, 0x100},
    {"_ZN4work4halfEm", 0x1100, 0x40},
    {"inner", 0x1200, 0x20},
    {"recurses", 0x1300, 0x80},
    {"make", 0x1400, 0x30},
    {"idle", 0x1500, 0x10},
    {"_ZNSt6vectorIiE4pushEi", 0x1600, 0x200},
};
constexpr std::uint64_t kMainCode = 0x1010, kHalfCode = 0x1110, kInnerCode = 0x1210,
                        kRecursesCode = 0x1310, kMakeCode = 0x1410, kPushCode = 0x1610;

class ExperimentHost : public commands::Host {
 public:
  explicit ExperimentHost(std::string experiment) : experiment_(std::move(experiment)) {}
  Result<std::string> experiment() override { return experiment_; }
  Result<std::string> function() override { return std::string("_ZN4work4halfEm"); }
  std::size_t default_limit() const override { return 0; }
  reader::TextStyle style() const override { return {}; }
  Interrupt interrupt() const override { return {}; }
  std::string state() override { return ""; }

 private:
  std::string experiment_;
};

std::string header_line() {
  char text[4096];
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

class Golden : public testing::Test {
 protected:
  void SetUp() override {
    recorder_ = test::new_recorder();
    ASSERT_TRUE(recorder_);
    object_ = directory_.file("demo");
    ASSERT_TRUE(test::write_fixture(object_, kFunctions));
    ASSERT_TRUE(test::begin_experiment(directory_, *recorder_, 2, header_line(),
                                       {object_, kBias + 0x1000, kBias + 0x10000, kBias}));
  }
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

  void tick(const std::vector<std::uint64_t>& stack, std::uint64_t weight, bool is_cut = false) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    format::ClockSample sample{};
    now_ += weight;
    sample.head.thread = 77;
    sample.head.time = now_;
    sample.head.cpu = 1;
    sample.head.stack = stack_of(*writer, stack, is_cut);
    sample.weight = weight;
    EXPECT_TRUE(recorder_->put(*writer, format::kClockSample, sample));
    recorder_->leave(*writer);
  }

  void allocate(const std::vector<std::uint64_t>& stack, std::uint64_t address,
                std::uint64_t bytes) {
    collector::Writer* writer = recorder_->enter();
    ASSERT_TRUE(writer);
    format::HeapAllocation made{0, stack_of(*writer, stack), 0, bytes};
    now_ += kMs;
    EXPECT_TRUE(
        recorder_->put_compact(*writer, format::kHeapAllocation, {78, 0, now_}, address, made));
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
    ExperimentHost host(directory_.path());
    std::string text;
    for (const std::string& line : lines) {
      std::istringstream words(line);
      std::string name;
      words >> name;
      const std::vector<std::string> rest{std::istream_iterator<std::string>(words), {}};
      text += "> " + line + "\n";
      const auto command = commands::find_command(name);
      const auto answer = command ? execute(host, **command, rest)
                                  : Result<commands::Answer>(tl::unexpected(command.error()));
      text += answer ? answer->text : "error: " + sentence(answer.error()) + "\n";
      if (answer)
        for (const std::string& warning : answer->warnings) text += "warning: " + warning + "\n";
      text += "\n";
    }
    for (auto at = text.find(directory_.path()); at != std::string::npos;
         at = text.find(directory_.path()))
      text.replace(at, directory_.path().size(), "demo.1.er");
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
  std::string object_;
  collector::Recorder* recorder_ = nullptr;
  std::uint64_t now_ = 1000;
};

TEST_F(Golden, Clock) {
  tick({kInnerCode, kHalfCode, kMainCode}, 10 * kMs);
  tick({kInnerCode + 4, kHalfCode, kMainCode}, 20 * kMs);
  tick({kHalfCode + 8, kMainCode}, 5 * kMs);
  tick({kRecursesCode, kRecursesCode + 8, kMainCode}, 8 * kMs);
  tick({kRecursesCode + 4, kMainCode + 16}, 7 * kMs);
  end(50 * kMs);
  expect("clock.txt",
         {"functions", "functions --limit 2", "functions --format json", "functions --format csv",
          "callers-callees", "csingle", "csingle half --metrics e.ticks", "csingle nowhere",
          "calltree", "calltree --limit 3 --metrics i%totalcpu", "status", "dump",
          "dump clock --format csv", "dump clock --limit 2", "dump samples"});
}

// A process that did not end in order has not said what it used: its samples have, up to the last.
TEST_F(Golden, Killed) {
  sample(format::SampleEvent::start, "", 100);
  for (int i = 0; i < 10; ++i) tick({kInnerCode, kHalfCode, kMainCode}, 50 * kMs);
  sample(format::SampleEvent::periodic, "", 1100);
  tick({kMainCode}, 50 * kMs);
  expect("killed.txt", {"functions", "functions --since sample start"});
}

TEST_F(Golden, Metrics) {
  tick({kInnerCode, kHalfCode, kMainCode}, 10 * kMs);
  tick({kMainCode}, 30 * kMs);
  for (std::uint64_t i = 0; i < 5; ++i)
    allocate({kMakeCode, kPushCode, kMainCode}, 0x7f0000000010 + i * 16, 100);
  allocate({kHalfCode, kMainCode}, 0x7f0000001000, 4096);
  end(40 * kMs);
  expect("metrics.txt",
         {"metric_list", "metrics ei.%totalcpu:e.heapalloccnt:i%heapallocbytes:size:address",
          "functions", "sort i.heapallocbytes", "functions", "callers-callees --limit 3",
          "calltree", "sort -name", "functions --metrics e.ticks", "sort address",
          "functions --format json --limit 3", "metrics a.%heapalloccnt", "csingle main",
          "functions", "dump allocation --format csv", "metrics default", "metrics e.any:size",
          "metrics i.nothing", "sort"});
}

TEST_F(Golden, Losses) {
  tick({kInnerCode, kHalfCode}, 10 * kMs, true);
  tick({kInnerCode, kHalfCode, kMainCode}, 30 * kMs);
  tick({0x5, kMainCode}, 10 * kMs);
  recorder_->drop(format::Drop::unbound);
  recorder_->drop(format::Drop::thread_clocks);
  end(90 * kMs);
  std::filesystem::remove(object_);
  expect("losses.txt", {"functions", "functions --format csv", "functions --metrics e.heapalloccnt",
                        "functions --metrics e.heapalloccnt:e.totalcpu"});
}

TEST_F(Golden, Process) {
  sample(format::SampleEvent::start, "", 2);
  sample(format::SampleEvent::baseline, "", 3, 77);
  tick({kInnerCode, kHalfCode, kMainCode}, 10 * kMs);
  sample(format::SampleEvent::periodic, "", 12, 77);
  tick({kMainCode}, 30 * kMs);
  sample(format::SampleEvent::manual, "before loop", 40, 78);
  tick({kMainCode}, 5 * kMs);
  sample(format::SampleEvent::end, "", 50);
  const char damaged[] = "{\"event\":\"end\"}\n";
  collector::append_text({recorder_->directory(), format::kOverviewFile}, damaged,
                         sizeof damaged - 1);
  std::ofstream(directory_.file("notes")) << "first try\nof two\n";
  end(48 * kMs);
  expect("process.txt", {"header", "overview", "samples", "statistics", "sample_detail",
                         "statistics --format json", "samples --format csv"});
}

TEST_F(Golden, Spans) {
  sample(format::SampleEvent::start, "", 0);
  tick({kInnerCode, kHalfCode, kMainCode}, 10 * kMs);
  stop("breakpoint 1.1");
  sample(format::SampleEvent::stop, "breakpoint 1.1", 10);
  tick({kMainCode}, 30 * kMs);
  stop("");
  sample(format::SampleEvent::manual, "loop", 40, 77);
  tick({kHalfCode, kMainCode}, 20 * kMs);
  sample(format::SampleEvent::manual, "loop", 60, 77);
  tick({kMakeCode, kMainCode}, 5 * kMs);
  sample(format::SampleEvent::periodic, "", 85, 77);
  tick({kRecursesCode, kMainCode}, 5 * kMs);
  sample(format::SampleEvent::end, "", 90);
  end(90 * kMs);
  expect("spans.txt",
         {"functions --since stop", "functions --since sample loop", "functions --since=sample 4",
          "functions --since 12ms", "functions --between start loop",
          "functions --between start periodic", "calltree --between=2 3", "dump --since 5ms",
          "dump clock --since sample 2", "dump clock --since 5ms --format csv",
          "statistics --between loop end", "samples --since stop",
          "sample_detail --since sample loop", "overview --since sample loop", "functions"});
  expect("wrong_spans.txt",
         {"functions --since sample nothing", "functions --since stopp", "functions --since",
          "functions --since sample", "functions --since 0s", "functions --since -1s",
          "functions --between start", "functions --between loop start", "functions --between 9 10",
          "functions --since stop --since 5s", "status --since stop", "functions --since 3h"});
}

// Nobody can look at the process from here, but gnomon-sampler saw its end.
TEST_F(Golden, Ended) {
  tick({kMainCode}, 10 * kMs);
  expect("open.txt", {"status"});
  log(format::kLogProcessEnded, "");
  expect("ended.txt", {"status", "header", "overview"});
}

TEST_F(Golden, Executed) {
  tick({kMainCode}, 10 * kMs);
  recorder_->control()->replacing = 1;
  expect("executed.txt", {"status", "functions"});
}

TEST_F(Golden, NoSample) {
  end(4 * kMs);
  expect("no_sample.txt",
         {"functions", "callers-callees", "calltree", "metric_list", "dump clock", "samples",
          "statistics", "overview", "functions --since stop", "functions --since 1ms"});
}

}  // namespace
