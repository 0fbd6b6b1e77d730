// Reports on a part of the events: filters, selections, index objects and load objects.
#include "tests/unit/report/fixture.h"
#include "tests/unit/report/golden.h"

using namespace gnomon;

namespace {

using test::kMs;

// The library is loaded behind the program.
constexpr std::uint64_t kLibrary = 0x30000;
constexpr std::uint64_t kMainPc = 0x1010, kWork = 0x1110, kWorkTwo = 0x1210,
                        kEnter = kLibrary + 0x1010, kInner = kLibrary + 0x1110, kCallback = 0x1310;

class GoldenFilters : public test::GoldenTest {
 protected:
  std::string object() override {
    const std::string path = directory_.file("demo");
    const bool is_written = test::write_fixture(path, {{"main", 0x1000, 0x100},
                                                       {"_ZN2my4workEi", 0x1100, 0x40},
                                                       {"_ZN2my4workEv", 0x1200, 0x40},
                                                       {"callback", 0x1300, 0x40}});
    return is_written ? path : "";
  }

  void SetUp() override {
    GoldenTest::SetUp();
    const std::string library = directory_.file("libqueue.so.1");
    ASSERT_TRUE(test::write_fixture(library, {{"enter", 0x1000, 0x100}, {"inner", 0x1100, 0x100}}));
    ASSERT_TRUE(test::write_map(*recorder_, {library, kBias + kLibrary + 0x1000,
                                             kBias + kLibrary + 0x11000, kBias + kLibrary}));
    sample(format::SampleEvent::start, "", 0);
    tick({kWork, kMainPc}, 400 * kMs);
    tick({kInner, kEnter, kWork, kMainPc}, 300 * kMs);
    thread_ = 78;
    cpu_ = 0;
    tick({kCallback, kInner, kInner + 4, kEnter, kMainPc}, 200 * kMs);
    sample(format::SampleEvent::manual, "half", 900, 78);
    tick({kWorkTwo, kMainPc}, 500 * kMs);
    allocate({kInner, kEnter, kMainPc}, 0x7f0000000010, 4096);
    thread_ = 79;
    cpu_ = format::kNoCpu;
    tick({kMainPc}, 100 * kMs);
    sample(format::SampleEvent::end, "", 1500);
    end(1500 * kMs);
  }

  static constexpr std::uint64_t kBias = test::kBias;
};

TEST_F(GoldenFilters, Filters) {
  expect("filters.txt", {"describe",
                         "functions --filter THRID==78",
                         "functions --thread worker",
                         "functions --thread 77,79 --cpu 1",
                         "functions --thread 78-90 --function my::work",
                         "functions --function m.*n --limit 2",
                         "filters",
                         "filters FNAME(enter) SOME IN STACK",
                         "functions",
                         "calltree --cpu 0",
                         "dump clock --format csv",
                         "dump allocation",
                         "filters (FNAME(enter), FNAME(inner)) ORDERED IN STACK",
                         "functions --metrics e.ticks",
                         "filters TSTAMP >= 400ms && TSTAMP < 1s",
                         "functions --metrics e.ticks",
                         "filters HASPROP(HSIZE) && HSIZE > 4000",
                         "functions --metrics e.heapallocbytes",
                         "filters LEAF IN FNAME(work)",
                         "thread_select 77",
                         "functions --metrics e.ticks",
                         "thread_list",
                         "cpu_list",
                         "sample_list",
                         "experiment_list",
                         "sample_select 1:2+2:all",
                         "sample_list",
                         "functions --metrics e.ticks",
                         "cpu_select none",
                         "functions",
                         "filters off",
                         "functions --limit 1"});
}

TEST_F(GoldenFilters, Wrong) {
  expect("wrong_filters.txt", {"filters THRID ==",
                               "filters (THRID == 1",
                               "filters THREAD == 1",
                               "filters 1 2",
                               "filters STACK",
                               "filters STACK + 1",
                               "filters 5 parsecs",
                               "filters 5parsecs",
                               "filters FNAME(a",
                               "filters FNAME()",
                               "filters 0x",
                               "filters THRID IN",
                               "functions --filter",
                               "functions --filter MSTATE",
                               "functions --function [",
                               "functions --thread 5-3",
                               "functions --cpu first",
                               "thread_select 1,x",
                               "thread_select 9:",
                               "sample_select -3",
                               "indxobj Nothing",
                               "indxobj",
                               "indxobj_define Seconds TSTAMP",
                               "indxobj_define 1 THRID",
                               "indxobj_define A THRID ==",
                               "indxobj_define A",
                               "object_hide",
                               "samples --thread 77"});
}

TEST_F(GoldenFilters, Indexes) {
  expect("indexes.txt",
         {"threads", "cpus --metrics ie.totalcpu", "processes", "seconds --sort name",
          "indxobj samples", "indxobj Experiment_IDs", "indxobj_list",
          "indxobj_define Tenths TSTAMP/100ms", "indxobj_list --format csv",
          "indxobj tenths --sort -name", "indxobj_define Sizes HSIZE / 1024",
          "indxobj Sizes --metrics e.heapallocbytes:e.ticks", "threads --limit 2 --format json"});
}

TEST_F(GoldenFilters, Objects) {
  expect("objects.txt",
         {"objects", "object_list", "object_hide libqueu.so", "object_hide libqueue.so.1",
          "functions", "calltree", "lines", "callers-callees --limit 2", "object_api all",
          "object_list", "functions", "calltree", "object_select demo", "objects",
          "objects_default", "functions --limit 3"});
}

TEST_F(GoldenFilters, Styles) {
  expect("styles.txt", {"name short",
                        "functions",
                        "name mangled:soname",
                        "functions",
                        "csingle my::work(int)",
                        "name long:nosoname",
                        "name",
                        "name tall",
                        "viewmode machine",
                        "viewmode",
                        "viewmode java",
                        "printmode html",
                        "functions --limit 3",
                        "functions --limit 2 --format csv",
                        "printmode ;",
                        "functions --limit 2",
                        "threads",
                        "printmode",
                        "printmode text",
                        "printmode xml",
                        "export",
                        "export --to collapsed",
                        "export --to svg",
                        "export weight --to pprof",
                        "outfile x",
                        "quit"});
}

}  // namespace
