// Event kinds: a row says what a record of the kind looks like. The recorder writes by these rows,
// header.json repeats them, and the reader reads by what header.json says.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libcollector/format/block.h"

namespace gnomon::format {

// One data file for each kind of data; the id stands in block headers and indexes the control page.
enum class DataKind : std::uint16_t {
  profile = 0,
  heaptrace = 1,
  synctrace = 2,
  iotrace = 3,
  hwcounters = 4
};
inline constexpr std::size_t kDataKinds = 16;
inline constexpr std::array<const char*, 5> kDataFiles{"profile", "heaptrace", "synctrace",
                                                       "iotrace", "hwcounters"};

enum class Unit : std::uint8_t {
  none,
  nanoseconds,
  time,
  bytes,
  address,
  thread,
  cpu,
  stack,
  text
};
// As header.json names them, by Unit.
inline constexpr std::array<std::string_view, 9> kUnitNames{
    "none", "nanoseconds", "time", "bytes", "address", "thread", "cpu", "stack", "text"};

struct Field {
  std::string_view name;
  std::string_view token;  // by which filters name the field; may be empty
  std::uint8_t offset;
  std::uint8_t
      width;  // bytes: 1, 2, 4, 6 or 8; of a text its first ones, it goes to the record's end
  Unit unit;
};

// head: the record begins with an EventHead. compact: it begins with a CompactWord, its thread and
// CPU are the block's, and its time counts from the block's.
enum class Layout : std::uint8_t { head, compact };

struct EventKind {
  static constexpr std::size_t kMaxFields = 16;
  std::uint8_t id;  // never 0, never used again for something else; compact: below 16
  std::string_view name;
  DataKind file;
  Layout layout;
  std::uint8_t size;
  std::array<Field, kMaxFields> fields;  // a nameless one ends the list
};

inline constexpr std::uint16_t kNoCpu = 0xffff;

// What a thread does: Solaris's microstates, from 1 on (proc(5), LMS_USER ...), and two more.
// lock: it waits for a futex. other_wait: for something else in the kernel, such as data. blocked:
// it is off a CPU and does not wait for one; the reason is not known. running: it is on a CPU, for
// the user or the system. unknown: likewise, of a clock that tells no states.
enum class ThreadState : std::uint8_t {
  unknown = 0,
  user = 1,
  system = 2,
  page_fault = 5,
  lock = 7,
  sleep = 8,
  wait_cpu = 9,
  stopped = 10,
  other_wait = 11,
  blocked = 12,
  running = 13
};
// Returns true for a thread on a CPU.
constexpr bool is_on_cpu(ThreadState state) {
  return state <= ThreadState::system || state == ThreadState::running;
}

struct EventHead {
  std::uint32_t word;    // RecordWord
  std::uint32_t thread;  // kernel thread id
  std::uint64_t time;    // CLOCK_MONOTONIC, ns
  std::uint32_t stack;   // node of the stack table; 0: none
  std::uint16_t cpu;     // kNoCpu: unknown
  std::uint8_t state;    // ThreadState
  std::uint8_t flags;
};
static_assert(sizeof(EventHead) == 24);
inline constexpr std::array kHeadFields{
    Field{"thread", "THRID", offsetof(EventHead, thread), 4, Unit::thread},
    Field{"time", "TSTAMP", offsetof(EventHead, time), 8, Unit::time},
    Field{"stack", "STACK", offsetof(EventHead, stack), 4, Unit::stack},
    Field{"cpu", "CPUID", offsetof(EventHead, cpu), 2, Unit::cpu},
    Field{"state", "MSTATE", offsetof(EventHead, state), 1, Unit::none},
};

template <typename... Own>
constexpr std::array<Field, EventKind::kMaxFields> with_head(Own... own) {
  std::array<Field, EventKind::kMaxFields> fields{};
  std::size_t at = 0;
  for (const Field& field : kHeadFields) fields[at++] = field;
  ((fields[at++] = own), ...);
  return fields;
}

// A tick of a thread's CPU clock; or, if its flags say so, time of a thread that no tick stands
// for: on a CPU, or off it.
inline constexpr std::uint8_t kRest = 1;
struct ClockSample {
  EventHead head;
  std::uint64_t weight;       // time this sample stands for, ns
  std::uint8_t length[6];     // ns before the head's time, over which that is spread; 0: not told
  std::uint16_t parallelism;  // threads of the process that were on a CPU; 0: not known
};
static_assert(sizeof(ClockSample) == 40);

// How the process used CPUs: for `idle` of the `length` ns up to the head's time fewer than it may.
struct CpuUse {
  EventHead head;
  std::uint64_t length, idle;  // ns
};
static_assert(sizeof(CpuUse) == 40);

// Counts of a counter, up to a sample of it.
struct CounterEvent {
  EventHead head;
  std::uint64_t weight;   // counts; of a CPU's cycles, the time that they take, ns
  std::uint64_t address;  // of the data that the sample is about; 0: not told
};
static_assert(sizeof(CounterEvent) == 40);

// An object was read or written, or a function called, which is watched.
struct Touch {
  EventHead head;
  std::uint64_t weight;  // how often
  std::uint32_t watch;   // number of what is watched, as in kWatchesFile
  std::uint32_t reserved;
};
static_assert(sizeof(Touch) == 40);

// A block of memory that the program got from its allocator, or gave back to it.
struct HeapAllocation {
  std::uint64_t word;   // CompactWord
  std::uint32_t stack;  // node of the stack table
  std::uint32_t time;   // ns after the block header's
  std::uint64_t size;   // bytes asked for
};
static_assert(sizeof(HeapAllocation) == 24);
struct HeapFree {
  std::uint64_t word;   // CompactWord
  std::uint32_t stack;  // node of the stack table; 0: not recorded
  std::uint32_t time;   // ns after the block header's
};
static_assert(sizeof(HeapFree) == 16);

// What a call waits for.
enum class WaitKind : std::uint32_t {
  mutex = 1,
  read_lock = 2,
  write_lock = 3,
  spin_lock = 4,
  condition = 5,
  barrier = 6,
  join = 7,
  semaphore = 8,
  futex = 9
};
// A wait for another thread; the head's time is its end.
struct Wait {
  EventHead head;
  std::uint64_t object;    // address; of a join, the thread's pthread_t
  std::uint64_t duration;  // ns
  std::uint32_t kind;      // WaitKind
  std::uint32_t holder;    // thread that had the object, or that ended the wait; 0: not known
};
static_assert(sizeof(Wait) == 48);

// What a call about descriptors does.
enum class IoOperation : std::uint8_t {
  read = 1,
  write = 2,
  open = 3,
  close = 4,
  seek = 5,
  sync = 6,
  wait = 7,  // until descriptors are ready
  connect = 8,
  accept = 9,
  other = 10
};
inline constexpr std::array<std::string_view, 11> kIoOperations{
    "", "read", "write", "open", "close", "seek", "sync", "wait", "connect", "accept", "other"};
// A call that did I/O; the head's time is its end, its state errno, 0: none, its flags an
// IoOperation.
struct Io {
  EventHead head;
  std::uint8_t bytes[6];     // that were moved
  std::uint8_t duration[6];  // ns
  std::uint32_t file;        // 0: about none, or about several
};
static_assert(sizeof(Io) == 40);
// The name of what a descriptor stands for, or a part of it.
struct FileName {
  EventHead head;
  std::uint32_t file;
  std::int32_t descriptor;  // -1: it could not be opened
  std::uint32_t part;       // from 0
  char text[60];            // filled up with zeros
};
static_assert(sizeof(FileName) == 96);

// kept: the block that the free before was about is not free after all, because realloc(3) failed.
inline constexpr std::uint8_t kHeapAllocation = 1, kHeapFree = 2, kHeapKept = 3, kClockSample = 16,
                              kWait = 17, kIo = 18, kFileName = 19, kCpuUse = 20, kAccess = 21,
                              kCall = 22;
// Each counter of an experiment has a kind of its own, with the layout of the first one: from here
// on, in the order of kCountersFile.
inline constexpr std::uint8_t kFirstCounter = 64;

inline constexpr Field kCompactAddress{"address", "HVADDR", 0, 6, Unit::address};
inline constexpr std::array kEventKinds{
    EventKind{kHeapAllocation,
              "allocation",
              DataKind::heaptrace,
              Layout::compact,
              sizeof(HeapAllocation),
              {kCompactAddress,
               {"stack", "STACK", offsetof(HeapAllocation, stack), 4, Unit::stack},
               {"time", "TSTAMP", offsetof(HeapAllocation, time), 4, Unit::time},
               {"size", "HSIZE", offsetof(HeapAllocation, size), 8, Unit::bytes}}},
    EventKind{kHeapFree,
              "free",
              DataKind::heaptrace,
              Layout::compact,
              sizeof(HeapFree),
              {kCompactAddress,
               {"stack", "STACK", offsetof(HeapFree, stack), 4, Unit::stack},
               {"time", "TSTAMP", offsetof(HeapFree, time), 4, Unit::time}}},
    EventKind{kHeapKept,
              "kept",
              DataKind::heaptrace,
              Layout::compact,
              sizeof(HeapFree),
              {kCompactAddress, {"time", "TSTAMP", offsetof(HeapFree, time), 4, Unit::time}}},
    EventKind{kClockSample, "clock", DataKind::profile, Layout::head, sizeof(ClockSample),
              with_head(Field{"rest", "", offsetof(EventHead, flags), 1, Unit::none},
                        Field{"weight", "NTICK_NSEC", offsetof(ClockSample, weight), 8,
                              Unit::nanoseconds},
                        Field{"length", "", offsetof(ClockSample, length), 6, Unit::nanoseconds},
                        Field{"parallelism", "PARALLELISM", offsetof(ClockSample, parallelism), 2,
                              Unit::none})},
    EventKind{
        kWait, "wait", DataKind::synctrace, Layout::head, sizeof(Wait),
        with_head(Field{"object", "SOBJ", offsetof(Wait, object), 8, Unit::address},
                  Field{"duration", "EVT_TIME", offsetof(Wait, duration), 8, Unit::nanoseconds},
                  Field{"kind", "SKIND", offsetof(Wait, kind), 4, Unit::none},
                  Field{"holder", "SHOLDER", offsetof(Wait, holder), 4, Unit::thread})},
    EventKind{kIo,
              "io",
              DataKind::iotrace,
              Layout::head,
              sizeof(Io),
              {kHeadFields[0],
               kHeadFields[1],
               kHeadFields[2],
               kHeadFields[3],
               {"operation", "IOTYPE", offsetof(EventHead, flags), 1, Unit::none},
               {"error", "IOERR", offsetof(EventHead, state), 1, Unit::none},
               {"bytes", "IONBYTE", offsetof(Io, bytes), 6, Unit::bytes},
               {"duration", "EVT_TIME", offsetof(Io, duration), 6, Unit::nanoseconds},
               {"file", "IOVFD", offsetof(Io, file), 4, Unit::none}}},
    EventKind{kFileName,
              "file",
              DataKind::iotrace,
              Layout::head,
              sizeof(FileName),
              {kHeadFields[0],
               kHeadFields[1],
               {"file", "IOVFD", offsetof(FileName, file), 4, Unit::none},
               {"descriptor", "IOFD", offsetof(FileName, descriptor), 4, Unit::none},
               {"part", "", offsetof(FileName, part), 4, Unit::none},
               {"text", "", offsetof(FileName, text), 8, Unit::text}}},
    EventKind{kCpuUse,
              "use",
              DataKind::profile,
              Layout::head,
              sizeof(CpuUse),
              {kHeadFields[0],
               kHeadFields[1],
               {"length", "", offsetof(CpuUse, length), 8, Unit::nanoseconds},
               {"idle", "", offsetof(CpuUse, idle), 8, Unit::nanoseconds}}},
    EventKind{kAccess, "access", DataKind::hwcounters, Layout::head, sizeof(Touch),
              with_head(Field{"weight", "", offsetof(Touch, weight), 8, Unit::none},
                        Field{"watch", "WATCH", offsetof(Touch, watch), 4, Unit::none})},
    EventKind{kCall, "call", DataKind::hwcounters, Layout::head, sizeof(Touch),
              with_head(Field{"weight", "", offsetof(Touch, weight), 8, Unit::none},
                        Field{"watch", "WATCH", offsetof(Touch, watch), 4, Unit::none})},
    EventKind{
        kFirstCounter, "counter", DataKind::hwcounters, Layout::head, sizeof(CounterEvent),
        with_head(Field{"weight", "HWCINT", offsetof(CounterEvent, weight), 8, Unit::none},
                  Field{"address", "VADDR", offsetof(CounterEvent, address), 8, Unit::address})},
};

constexpr const EventKind* find_event_kind(std::uint8_t id) {
  for (const EventKind& kind : kEventKinds)
    if (kind.id == id) return &kind;
  return nullptr;
}

constexpr bool is_sound(const Field& field, std::size_t record) {
  const bool known = field.width == 1 || field.width == 2 || field.width == 4 || field.width == 6 ||
                     field.width == 8;
  return known && std::size_t{field.offset} + field.width <= record;
}

consteval bool event_kinds_are_sound() {
  if (kDataFiles.size() > kDataKinds) return false;
  for (std::size_t i = 0; i < kEventKinds.size(); ++i) {
    const EventKind& kind = kEventKinds[i];
    if (kind.id == 0 || kind.size % 8 != 0) return false;
    if ((kind.layout == Layout::compact) != (kind.id < 16)) return false;
    if (static_cast<std::size_t>(kind.file) >= kDataFiles.size()) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (kEventKinds[j].id == kind.id) return false;
    for (const Field& field : kind.fields)
      if (!field.name.empty() && !is_sound(field, kind.size)) return false;
  }
  return true;
}
static_assert(event_kinds_are_sound());

}  // namespace gnomon::format
