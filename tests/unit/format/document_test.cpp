// docs/format.md says of every field of every struct what the compiler says.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>

#include "libcollector/format/control.h"
#include "libcollector/format/events.h"
#include "libcollector/format/overview.h"
#include "libcollector/format/stacks.h"

namespace gnomon::format {
namespace {

template <typename T>
std::string type_name() {
  if constexpr (std::is_array_v<T>)
    return type_name<std::remove_extent_t<T>>() + "[" + std::to_string(std::extent_v<T>) + "]";
  else if constexpr (std::is_same_v<T, ControlPage>)
    return "ControlPage";
  else if constexpr (std::is_same_v<T, Mailbox>)
    return "Mailbox";
  else if constexpr (std::is_same_v<T, char>)
    return "char";
  else
    return (std::is_signed_v<T> ? "i" : "u") + std::to_string(sizeof(T) * 8);
}

// The part of the document under "### name".
std::string section(const std::string& name) {
  std::ifstream file(std::string(GNOMON_SOURCE) + "/docs/format.md");
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str(), title = "\n### " + name + "\n";
  const auto begin = text.find(title);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find("\n#", begin + title.size()) - begin);
}

class Fields {
 public:
  Fields(const char* name, std::size_t size) : name_(name), size_(size), text_(section(name)) {
    EXPECT_NE(text_, "") << name << " has no section";
  }
  // Every byte of the struct belongs to a field that was named.
  ~Fields() { EXPECT_EQ(covered_, size_) << name_; }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  template <typename T>
  void has(const char* field, std::size_t offset) {
    const std::string row =
        "\n| " + std::to_string(offset) + " | " + type_name<T>() + " | " + field + " | ";
    EXPECT_NE(text_.find(row), std::string::npos) << name_ << " needs the row" << row;
    covered_ += sizeof(T);
  }

 private:
  const char* name_;
  std::size_t size_;
  std::string text_;
  std::size_t covered_ = 0;
};

#define HAS(Struct, field) fields.has<decltype(Struct::field)>(#field, offsetof(Struct, field))

TEST(Document, Blocks) {
  Fields fields("BlockHeader", sizeof(BlockHeader));
  HAS(BlockHeader, magic);
  HAS(BlockHeader, major);
  HAS(BlockHeader, kind);
  HAS(BlockHeader, number);
  HAS(BlockHeader, begun);
  HAS(BlockHeader, session);
  HAS(BlockHeader, thread);
  HAS(BlockHeader, cpu);
  HAS(BlockHeader, reserved2);
  HAS(BlockHeader, time);
  HAS(BlockHeader, bytes);
  HAS(BlockHeader, check);
}

TEST(Document, Mailboxes) {
  Fields fields("Mailbox", sizeof(Mailbox));
  HAS(Mailbox, sequence);
  HAS(Mailbox, answered);
  HAS(Mailbox, verb);
  HAS(Mailbox, event);
  HAS(Mailbox, label);
}

// Every figure and every event of a sample is named.
TEST(Document, Samples) {
  const std::string text = section("overview");
  for (const FigureRow& row : kFigures)
    EXPECT_NE(text.find("\n| " + std::string(row.key) + " | "), std::string::npos) << row.key;
  for (const char* event : kSampleEvents)
    EXPECT_NE(text.find("`" + std::string(event) + "`"), std::string::npos) << event;
}

TEST(Document, RecordWords) {
  Fields fields("RecordWord", sizeof(RecordWord));
  HAS(RecordWord, kind);
  HAS(RecordWord, size8);
  HAS(RecordWord, check);
}

TEST(Document, EventHeads) {
  Fields fields("EventHead", sizeof(EventHead));
  HAS(EventHead, word);
  HAS(EventHead, thread);
  HAS(EventHead, time);
  HAS(EventHead, stack);
  HAS(EventHead, cpu);
  HAS(EventHead, state);
  HAS(EventHead, flags);
}

// Of each kind the fields that are its own.
TEST(Document, Events) {
  for (const EventKind& kind : kEventKinds) {
    const std::string text = section("Event " + std::string(kind.name));
    EXPECT_NE(text.find("Event kind " + std::to_string(kind.id) + ", in `" +
                        kDataFiles[static_cast<std::size_t>(kind.file)] + "`, " +
                        std::to_string(kind.size) + " bytes"),
              std::string::npos)
        << kind.name;
    for (const Field& field : kind.fields) {
      if (field.name.empty() || (kind.layout == Layout::head && field.offset < sizeof(EventHead)))
        continue;
      const std::string type = field.unit == Unit::text
                                   ? "char[" + std::to_string(kind.size - field.offset) + "]"
                                   : "u" + std::to_string(field.width * 8);
      const std::string row = "\n| " + std::to_string(field.offset) + " | " + type + " | " +
                              std::string(field.name) + " | ";
      EXPECT_NE(text.find(row), std::string::npos) << kind.name << " needs the row" << row;
    }
  }
}

TEST(Document, Stacks) {
  {
    Fields fields("StackHeader", sizeof(StackHeader));
    HAS(StackHeader, magic);
    HAS(StackHeader, major);
    HAS(StackHeader, reserved);
    HAS(StackHeader, session);
    HAS(StackHeader, buckets);
    HAS(StackHeader, nodes);
    HAS(StackHeader, digest);
    HAS(StackHeader, closed);
    HAS(StackHeader, reserved2);
  }
  Fields fields("StackNode", sizeof(StackNode));
  HAS(StackNode, pc);
  HAS(StackNode, parent);
  HAS(StackNode, check);
  HAS(StackNode, links);
}

TEST(Document, ControlPages) {
  {
    Fields fields("ClosedPage", sizeof(ClosedPage));
    HAS(ClosedPage, check);
    HAS(ClosedPage, reserved);
    HAS(ClosedPage, page);
  }
  Fields fields("ControlPage", sizeof(ControlPage));
  HAS(ControlPage, magic);
  HAS(ControlPage, major);
  HAS(ControlPage, minor);
  HAS(ControlPage, session);
  HAS(ControlPage, pid);
  HAS(ControlPage, state);
  HAS(ControlPage, failure);
  HAS(ControlPage, failure_errno);
  HAS(ControlPage, start_time);
  HAS(ControlPage, end_time);
  HAS(ControlPage, cpu_time);
  HAS(ControlPage, threads);
  HAS(ControlPage, blocks);
  HAS(ControlPage, lanes);
  HAS(ControlPage, map_lines);
  HAS(ControlPage, asked);
  HAS(ControlPage, replacing);
  HAS(ControlPage, sampler_time);
  HAS(ControlPage, sampler);
  HAS(ControlPage, pause_reason);
  HAS(ControlPage, mailbox);
  HAS(ControlPage, overview_lines);
  HAS(ControlPage, log_lines);
  HAS(ControlPage, begun);
  HAS(ControlPage, children);
  HAS(ControlPage, frees_only);
  HAS(ControlPage, waits);
  HAS(ControlPage, epoch);
  HAS(ControlPage, map_lines_begun);
  HAS(ControlPage, writers);
  HAS(ControlPage, clock);
  HAS(ControlPage, roots);
  HAS(ControlPage, kept_threads);
  HAS(ControlPage, kept_events);
  HAS(ControlPage, counters);
  HAS(ControlPage, watches);
  HAS(ControlPage, answer);
  HAS(ControlPage, dropped);
}

}  // namespace
}  // namespace gnomon::format
