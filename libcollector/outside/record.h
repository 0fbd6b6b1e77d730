// Records of the kernel's rings, decoded (perf_event_open(2), "MMAP layout"). Any process: plain
// memory.
#pragma once
#include <linux/perf_event.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace gnomon::outside {

// Every event whose records are decoded here has these attributes.
void ask_for_origin(perf_event_attr& attributes);
// An event that samples has these attributes as well: each sample gets its period, the kernel's
// part of the call stack, the user registers and `stack_bytes` bytes of the user's stack (a
// multiple of 8, up to 65 528).
void ask_for_stack(perf_event_attr& attributes, std::uint32_t stack_bytes);

// Which thread wrote the record, or is what it is about.
struct Origin {
  std::uint64_t event = 0;  // id of the event that wrote the record
  std::uint64_t time = 0;   // CLOCK_MONOTONIC, ns
  std::uint32_t process = 0, thread = 0;
  std::uint32_t cpu = 0;
};

// Nothing can be loaded from there.
inline constexpr std::uint64_t kNoFramePointer = 1;

struct Sample {
  Origin origin;
  bool is_of_kernel = false;  // the thread was in the kernel
  std::uint64_t address = 0;  // of the data that the event is about; 0: about none
  // Addresses in the kernel, from the innermost; empty if the event does not see the kernel.
  std::span<const std::uint64_t> kernel = {};
  // In the order of the kernel's signal frame (unwind/registers.h); without a user part, as in the
  // kernel's own threads, has_registers is false.
  std::uint64_t registers[17] = {};
  bool has_registers = false;
  bool has_few_registers = false;  // rsp and rip; rbp is kNoFramePointer
  const char* stack = nullptr;     // the copy, from the stack pointer upwards
  std::uint64_t stack_bytes = 0;   // valid
  bool stack_is_short = false;  // the stack, or what is used of it, ends before the size asked for
};

// A mapping of code; its file's name may be [vdso], //anon or empty.
struct NewMapping {
  std::uint64_t begin = 0, size = 0, offset = 0;
  std::uint64_t inode = 0;
  std::uint32_t major = 0, minor = 0;
  std::string_view file;
};

// Where an origin stands in a record, for merging. 0: the record has none.
std::uint64_t time_of(const perf_event_header& record);
// Of every record but samples.
Origin origin_of(const perf_event_header& record);
// Returns false if the record is none of that type, or is damaged.
bool decode(const perf_event_header& record, Sample& sample);
bool decode(const perf_event_header& record, NewMapping& mapping);

// Of PERF_RECORD_FORK and PERF_RECORD_EXIT.
struct TaskChange {
  std::uint32_t process, parent, thread, parent_thread;
};
bool decode(const perf_event_header& record, TaskChange& change);
// Of PERF_RECORD_READ: how much an event has counted when the thread ended that had inherited it.
struct ThreadCount {
  std::uint32_t process, thread;
  std::uint64_t count;
};
bool decode(const perf_event_header& record, ThreadCount& count);
// Returns true if the kernel takes no samples of an event for a moment, as there are too many.
bool is_throttle(const perf_event_header& record);
// Returns how many records the kernel could not write (PERF_RECORD_LOST), else 0.
std::uint64_t lost_in(const perf_event_header& record);
// Returns true if the thread has executed another program.
bool is_exec(const perf_event_header& record);
// Returns the name that a thread is given (PERF_RECORD_COMM), else an empty text.
std::string_view name_in(const perf_event_header& record);

}  // namespace gnomon::outside
