// Metric lists: er_print's grammar, and what is not of it.
#include "reader/metrics/metric_list.h"

#include <gtest/gtest.h>

using namespace gnomon;
using namespace gnomon::reader;

namespace {

std::string list(const char* text) {
  const auto parsed = parse_metrics(text);
  return parsed ? parsed->text() : "! " + sentence(parsed.error());
}

std::string sort(const char* text) {
  const auto parsed = parse_sort(text);
  return parsed ? parsed->text() + " " + parsed->title() : "! " + sentence(parsed.error());
}

TEST(MetricList, Grammar) {
  EXPECT_EQ(list("default"), "e.%totalcpu:i.%totalcpu:name");
  EXPECT_EQ(list("e.totalcpu"), "e.totalcpu");
  EXPECT_EQ(list("e+totalcpu"), "e.totalcpu");
  EXPECT_EQ(list("ie.%totalcpu"), "i.%totalcpu:e.%totalcpu");
  EXPECT_EQ(list("e%.totalcpu"), "e%totalcpu:e.totalcpu");
  EXPECT_TRUE(list("e.any").starts_with(
      "e.totalcpu:e.ticks:e.user:e.system:e.wait:e.lock:e.pfault:e.sleep:e.owait:e.blocked:"
      "e.stop:e.total:e.latency:"
      "e.heapalloccnt:e.heapallocbytes:e.heapleakcnt:e.heapleakbytes:e.sync:e.syncn:"
      "e.ioreadbytes:e.ioreadcnt:e.ioreadtime:e.iowritebytes:e.iowritecnt:e.iowritetime:"
      "e.ioothercnt:e.ioothertime:e.iowaitcnt:e.iowaittime:e.ioerrorcnt:e.ioerrortime:"
      "e.accesses:e.calls"));
  EXPECT_EQ(list("e.ticks:e.ticks:name:.name"), "e.ticks:name");
  EXPECT_EQ(list("!size:e.ticks:address"), "e.ticks:address");
  EXPECT_EQ(list("e!totalcpu:a.ticks"), "a.ticks");
}

TEST(MetricList, WhatTextSaysIsParsedToTheSame) {
  for (const char* text :
       {"e.%totalcpu:i.%totalcpu:name", "a%ticks:size", "i.heapallocbytes:e%ticks"})
    EXPECT_EQ(list(list(text).c_str()), text);
}

TEST(MetricList, WrongWords) {
  for (const char* wrong :
       {"", ":", "e.", "e.totalcpu:", "e", "totalcpu", "ex.totalcpu", "e.cpu", "e.name",
        "d.totalcpu", "e!.totalcpu", "!size", "e.totalcpu name", "default:name", "e..%\xff"})
    EXPECT_EQ(list(wrong).substr(0, 2), "! ") << wrong;
}

TEST(MetricList, Sort) {
  EXPECT_EQ(sort("e.totalcpu"), "e.totalcpu Exclusive Total CPU Time");
  EXPECT_EQ(sort("-i%ticks"), "-i.ticks Inclusive CPU Ticks, reversed");
  EXPECT_EQ(sort("ei.totalcpu:name"), "e.totalcpu Exclusive Total CPU Time");
  EXPECT_EQ(sort("name"), "name Name");
  for (const char* wrong : {"", "-", "--name", "e.", "totalcpu", "e.nothing"})
    EXPECT_EQ(sort(wrong).substr(0, 2), "! ") << wrong;
}

TEST(MetricListWithCounters, ACounterIsAMetricOfItsName) {
  EXPECT_NE(list("e.test-counter").find("there is no metric"), std::string::npos);
  know_counter("test-counter", "Test Counter", false);
  know_counter("test-counter", "Another Title", true);
  know_counter("totalcpu", "No Counter", false);
  EXPECT_EQ(list("e.%test-counter:i.totalcpu"), "e.%test-counter:i.totalcpu");
  EXPECT_EQ(sort("e.test-counter"), "e.test-counter Exclusive Test Counter");
  EXPECT_EQ(sort("i.totalcpu"), "i.totalcpu Inclusive Total CPU Time");
}

}  // namespace
