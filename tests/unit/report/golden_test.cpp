// Reports on experiments that the test writes, compared with what is stored in golden/. `unit_tests
// --update` stores what the reports say now.
#include "tests/unit/report/golden.h"

#include <sys/resource.h>

#include "tests/unit/report/fixture.h"

using namespace gnomon;

namespace {

using test::kMs;

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

class Golden : public test::GoldenTest {
 protected:
  std::string object() override {
    const std::string path = directory_.file("demo");
    return test::write_fixture(path, kFunctions) ? path : "";
  }
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

// User and system time: ticks, and CPU time that no tick stands for.
TEST_F(Golden, States) {
  using format::ThreadState;
  recorder_->control()->clock = static_cast<std::uint32_t>(format::Clock::user);
  tell({kInnerCode, kMainCode}, 10 * kMs, {ThreadState::user});
  tell({}, 25 * kMs, {ThreadState::system, true, format::Activity::system});
  tell({kInnerCode, kMainCode}, 3 * kMs, {ThreadState::user, true});
  thread_ = 78;
  tell({}, kMs, {ThreadState::user, true, format::Activity::short_threads});
  thread_ = 77;
  tell({kHalfCode, kMainCode}, 10 * kMs, {ThreadState::system});
  end(49 * kMs);
  const std::string metrics = " --metrics e.totalcpu:i.user:i.system:e.ticks:name";
  expect("states.txt",
         {"functions" + metrics, "functions --filter MSTATE==2" + metrics, "calltree" + metrics,
          "threads" + metrics, "objects" + metrics, "fsingle <System>", "lines", "pcs",
          "source <System>", "disasm <System>", "overview", "statistics", "dump"});
}

// Threads that wait, or run beside others.
TEST_F(Golden, Waiting) {
  using format::ThreadState;
  recorder_->control()->clock = static_cast<std::uint32_t>(format::Clock::user);
  sample(format::SampleEvent::start, "", 0);
  tell({kInnerCode, kMainCode}, 10 * kMs, {ThreadState::user, false, {}, 0, 1});
  tell({kHalfCode, kMainCode}, 10 * kMs, {ThreadState::user, false, {}, 0, 4});
  tell({kHalfCode, kMainCode}, 20 * kMs, {ThreadState::wait_cpu, true, {}, 40 * kMs});
  tell({kRecursesCode, kMainCode}, 15 * kMs, {ThreadState::lock, true, {}, 15 * kMs});
  sample(format::SampleEvent::manual, "middle", 20);
  thread_ = 78;
  tell({kInnerCode, kMainCode}, 20 * kMs, {ThreadState::sleep, true, {}, 40 * kMs});
  tell({kInnerCode, kMainCode}, 5 * kMs, {ThreadState::page_fault, true, {}, 5 * kMs});
  tell({kHalfCode, kMainCode}, 4 * kMs, {ThreadState::other_wait, true, {}, 4 * kMs});
  tell({}, 3 * kMs, {ThreadState::blocked, true, format::Activity::waiting, 10 * kMs});
  tell({kInnerCode, kMainCode}, 50 * kMs, {ThreadState::stopped, true, {}, 50 * kMs});
  end(137 * kMs);
  const std::string metrics = " --metrics e.total:e.totalcpu:e.wait:e.blocked:name";
  const std::string reasons = " --metrics e.lock:e.pfault:e.sleep:e.owait:e.stop:name";
  expect("waiting.txt",
         {"functions" + metrics, "functions" + reasons, "threads" + metrics,
          "functions --between start middle" + metrics, "functions --since sample middle" + metrics,
          "functions --metrics e.totalcpu:e.latency:name",
          "functions --parallelism 2-8 --metrics e.totalcpu:e.latency:name",
          "functions --parallelism 2-x", "functions", "callers-callees --metrics a.lock:name",
          "calltree --metrics i.total", "fsingle <Waiting>"});
}

// Call stacks that go on in the kernel.
TEST_F(Golden, Kernel) {
  constexpr std::uint64_t kEntry = 0xffffffff81001000, kRead = 0xffffffff81002000,
                          kDriver = 0xffffffffc0000000, kUnnamed = 0xffffffffa0000000;
  recorder_->control()->clock = static_cast<std::uint32_t>(format::Clock::kernel);
  const auto name = [&](std::uint64_t begin, const char* function, const char* module) {
    char text[256];
    collector::JsonLine line(test::kSession, text, sizeof text);
    line.number("begin", begin).number("end", begin + 0x100).text("name", function);
    if (*module != 0) line.text("module", module);
    EXPECT_TRUE(test::write_line(recorder_->directory(), format::kKernelFile, line, text));
  };
  name(kEntry, "entry", "");
  name(kRead, "inner", "");  // like a function of the program's
  name(kDriver, "transfer", "driver");
  const Told in_kernel{format::ThreadState::system};
  const auto at = [](std::uint64_t kernel) { return kernel + 8 - test::kBias; };
  tell({kInnerCode, kMainCode}, 10 * kMs, {format::ThreadState::user});
  tell({at(kRead), at(kEntry), kInnerCode, kMainCode}, 20 * kMs, in_kernel);
  tell({at(kDriver), at(kRead), at(kEntry), kInnerCode, kMainCode}, 30 * kMs, in_kernel);
  tell({at(kUnnamed), at(kEntry), kMainCode}, 5 * kMs, in_kernel);
  tell({at(kRead), format::activity_frame(format::Activity::system) - test::kBias}, kMs, in_kernel);
  end(66 * kMs);
  const std::string metrics = " --metrics e.totalcpu:i.totalcpu:e.system:name";
  const std::string functions = "functions" + metrics, filter = "filters LEAF IN FNAME(inner)";
  expect("kernel.txt", {functions,       "calltree",
                        "lines",         filter,
                        functions,       "kernel on",
                        functions,       "filters 1",
                        functions,       "calltree",
                        "csingle entry", "objects",
                        "lines",         "fsingle transfer",
                        "disasm entry",  "object_hide [kernel]",
                        "calltree",      "object_show all",
                        "kernel off",    functions,
                        "kernel up",     "status"});
}

// A process that did not end in order has not said what it used: its samples have, up to the last.
TEST_F(Golden, Killed) {
  sample(format::SampleEvent::start, "", 100);
  for (int i = 0; i < 10; ++i) tick({kInnerCode, kHalfCode, kMainCode}, 50 * kMs);
  sample(format::SampleEvent::periodic, "", 1100);
  tick({kMainCode}, 50 * kMs);
  expect("killed.txt", {"functions", "functions --since sample start"});
}

// Lists of all metrics are not compared: they have those of counters that the process has met.
TEST_F(Golden, Metrics) {
  tick({kInnerCode, kHalfCode, kMainCode}, 10 * kMs);
  tick({kMainCode}, 30 * kMs);
  for (std::uint64_t i = 0; i < 5; ++i)
    allocate({kMakeCode, kPushCode, kMainCode}, 0x7f0000000010 + i * 16, 100);
  allocate({kHalfCode, kMainCode}, 0x7f0000001000, 4096);
  end(40 * kMs);
  expect(
      "metrics.txt",
      {"metric_list", "metrics ei.%totalcpu:e.heapalloccnt:i%heapallocbytes:size:address",
       "functions", "sort i.heapallocbytes", "functions", "callers-callees --limit 3", "calltree",
       "sort -name", "functions --metrics e.ticks", "sort address",
       "functions --format json --limit 3", "metrics a.%heapalloccnt", "csingle main", "functions",
       "dump allocation --format csv", "metrics default", "metrics e.total:size", "sort"});
}

TEST_F(Golden, Heap) {
  constexpr std::uint64_t kBlock = 0x7f0000001000, kOther = 0x7f0000002000;
  allocate({kMakeCode, kPushCode, kMainCode}, kBlock, 100);
  give_back(kBlock);
  allocate({kMakeCode, kPushCode, kMainCode}, kBlock, 40);  // the same address again
  allocate({kHalfCode, kMainCode}, kOther, 4096);
  give_back(kOther);
  give_back<format::kHeapKept>(kOther);
  give_back(0x7f0000003000);  // of a block that was not recorded
  stop("breakpoint 1.1");
  give_back(kBlock);
  allocate({kInnerCode, kHalfCode, kMainCode}, kBlock, 7);
  end(40 * kMs);
  expect("heap.txt", {"heap", "allocs --limit 1", "leaks --format json", "leaks --since stop",
                      "functions --metrics ei.heapleakbytes:e.heapleakcnt", "status", "heapstat",
                      "heap --live", "heap --older-than 5ms", "heap --live --since stop",
                      "heap --address 0x7f0000001003", "heap --address 139637976735768",
                      "threads --metrics e.heapleakbytes:e.heapleakcnt:e.heapalloccnt",
                      "seconds --metrics e.heapleakbytes", "heap --address 0x7f0000003000",
                      "heap --address p", "heap --older-than soon", "heap --live=x"});
}

// Thread 78 has the lock and works while the others wait for it; thread 80 waits for thread 79, and
// that for 78. Who had the read lock is not known.
TEST_F(Golden, Locks) {
  using format::WaitKind;
  constexpr std::uint64_t kTable = 0x7f0000001000;
  const std::vector<std::uint64_t> waits{kInnerCode, kHalfCode, kMainCode};
  const std::uint64_t lock = test::kBias + 0x9040;
  thread_ = 78;
  tick({kMakeCode, kMainCode}, 10 * kMs);
  tick({kPushCode, kMainCode}, 20 * kMs);
  thread_ = 79;
  wait(waits, WaitKind::mutex, lock, 25 * kMs, 78);
  thread_ = 80;
  wait({kHalfCode, kMainCode}, WaitKind::condition, kTable, 15 * kMs, 79);
  wait(waits, WaitKind::join, 0x7f0000002000, 5 * kMs, 79);
  stop("breakpoint 1.1");
  thread_ = 79;
  tick({kRecursesCode, kMainCode}, 10 * kMs);
  wait({kRecursesCode, kMainCode}, WaitKind::read_lock, kTable + 64, 2 * kMs, 0);
  thread_ = 80;
  wait(waits, WaitKind::mutex, lock, 8 * kMs, 79);
  end(40 * kMs);
  expect("locks.txt",
         {"sync", "sync --limit 1", "sync --since stop", "sync --format json --limit 2", "blockers",
          "blockers --limit 1 --format csv", "functions --metrics ei.sync:e.syncn:e.totalcpu",
          "status", "sync nowhere", "dump wait --limit 2"});
}

// Of the wait for a lock the CPUs were busy at first.
TEST_F(Golden, IdleCpus) {
  const std::vector<std::uint64_t> waits{kInnerCode, kHalfCode, kMainCode};
  tick(waits, 10 * kMs);
  use(10 * kMs, 0);
  use(10 * kMs, 4 * kMs);
  wait(waits, format::WaitKind::mutex, test::kBias + 0x9040, 20 * kMs, 78);
  use(10 * kMs, 10 * kMs);
  wait({kHalfCode, kMainCode}, format::WaitKind::barrier, 0x7f0000001000, 10 * kMs, 78);
  end(50 * kMs);
  expect("idle_cpus.txt", {"sync", "sync --format csv", "dump use"});
}

// One file is opened twice, a socket is written to, a file that does not exist is opened, and a
// call waits for several descriptors.
TEST_F(Golden, Io) {
  using enum format::IoOperation;
  const std::string long_name = "/work/" + std::string(100, 'd') + "/data";
  const std::vector<std::uint64_t> reads{kInnerCode, kHalfCode, kMainCode},
      writes{kPushCode, kMainCode};
  name_file(1, 3, long_name);
  io(reads, open, 1, 0, kMs);
  io(reads, read, 1, 4096, 3 * kMs);
  io(reads, read, 1, 100, kMs);
  io(reads, close, 1, 0, kMs);
  name_file(2, 4, "socket:[123] to 10.0.0.1:80");
  io(writes, connect, 2, 0, 5 * kMs);
  io(writes, write, 2, 512, 2 * kMs);
  stop("breakpoint 1.1");
  io(writes, write, 2, 0, kMs, EPIPE);
  io({kMainCode}, wait, 0, 0, 7 * kMs);
  name_file(3, 3, long_name);
  io(reads, read, 3, 1, 2 * kMs);
  name_file(4, -1, "/nowhere");
  io(reads, open, 4, 0, kMs, ENOENT);
  io(reads, open, 4, 0, kMs, ENOENT);
  end(0);
  expect("io.txt", {"ioactivity", "ioactivity --limit 1", "ioactivity --since stop",
                    "ioactivity --format json --limit 1", "iodetail", "iocallstack", "iostat",
                    ("functions --metrics "
                     "e.ioreadbytes:e.ioreadcnt:e.ioreadtime:e.iowritecnt:e.iowaittime:"
                     "e.ioothercnt:e.ioerrorcnt"),
                    "status", "dump io --limit 1", "dump file --limit 2",
                    "functions --metrics e.iowritetime --filter IONBYTE>100&&IOTYPE==2"});
}

// What the kernel counted beyond the traced calls, and counters and watches without a name.
TEST_F(Golden, Untraced) {
  sample(format::SampleEvent::start, "", 0);
  io({kPushCode, kMainCode}, format::IoOperation::write, 1, 512, 2 * kMs);
  sample(format::SampleEvent::end, "", 4'000'000);
  recorder_->control()->counters = 2;
  recorder_->control()->watches = 1;
  end(0);
  expect("untraced.txt", {"iocallstack", "functions --metrics e.iowritebytes"});
}

// A filter must not make room for call stacks that are not there.
TEST_F(Golden, WrongStack) {
  tick({kMainCode}, 10 * kMs);
  collector::Writer* writer = recorder_->enter();
  format::ClockSample sample{};
  sample.head.time = now_;
  sample.head.stack = ~0u;
  EXPECT_TRUE(recorder_->put(*writer, format::kClockSample, sample));
  recorder_->leave(*writer);
  end(10 * kMs);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const std::string text = transcript({"filters FNAME(main) SOME IN STACK", "functions"});
  getrusage(RUSAGE_SELF, &after);
  EXPECT_NE(text.find("an event has a wrong call stack"), std::string::npos) << text;
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 1 << 20);  // KiB
}

TEST_F(Golden, WrongStackOfBlock) {
  collector::Writer* writer = recorder_->enter();
  format::HeapAllocation made{0, ~0u, 0, 10};
  EXPECT_TRUE(recorder_->put_compact<format::kHeapAllocation>(writer->lanes, {78, 0, now_ += kMs},
                                                              0x7f00, made));
  recorder_->leave(*writer);
  end(10 * kMs);
  for (const char* const command : {"heap", "heap --live", "heap --address 0x7f00", "heapstat"}) {
    const std::string text = transcript({command});
    EXPECT_NE(text.find("an event has a wrong call stack"), std::string::npos) << text;
  }
}

TEST_F(Golden, Losses) {
  tick({kInnerCode, kHalfCode}, 10 * kMs, true);
  tick({kInnerCode, kHalfCode, kMainCode}, 30 * kMs);
  tick({0x5, kMainCode}, 10 * kMs);
  recorder_->drop(format::Drop::unbound);
  recorder_->drop(format::Drop::thread_clocks);
  end(90 * kMs);
  std::filesystem::remove(object_);
  expect("losses.txt",
         {"functions", "functions --format csv", "functions --metrics e.heapalloccnt",
          "functions --metrics e.heapalloccnt:e.totalcpu", "describe", "metric_list"});
}

// A constructor's stacks begin further out than those of main.
TEST_F(Golden, Where) {
  tick({kInnerCode, kHalfCode, kMainCode}, 30 * kMs);
  tick({kInnerCode, kMakeCode, kPushCode}, 10 * kMs);
  end(40 * kMs);
  const auto frame = [](std::uint64_t code, const char* name) {
    return reader::BacktraceFrame{test::kBias + code, false, false, name, ""};
  };
  backtrace_ = {frame(kInnerCode, "inner"), frame(kHalfCode, "half"), frame(kMainCode, "main"),
                frame(kPushCode, "push")};
  expect("where.txt", {"where"});
}

TEST_F(Golden, LostFrees) {
  allocate({kMakeCode, kMainCode}, 0x7f0000001000, 100);
  recorder_->drop(format::Drop::no_lane);
  end(90 * kMs);
  expect("lost_frees.txt", {"leaks"});
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
