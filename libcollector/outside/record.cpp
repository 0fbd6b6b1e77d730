// Records of the kernel's rings, decoded (perf_event_open(2), "MMAP layout"). Any process: plain
// memory.
#include "libcollector/outside/record.h"

#include <cstring>

#include "libcollector/unwind/registers.h"

namespace gnomon::outside {
namespace {

constexpr std::uint64_t kOriginType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                      PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU;

// asm/perf_regs.h: ax bx cx dx si di bp sp ip, then r8 to r15.
constexpr std::uint64_t kRegisters = 0xff01ff;
constexpr unsigned kRegisterCount = 17;
// Where each of these stands in the kernel's signal frame, which begins with r8 to r15.
constexpr unsigned kPlaces[kRegisterCount] = {13, 11, 14, 12, 9, 8, 10, 15, 16,
                                              0,  1,  2,  3,  4, 5, 6,  7};
static_assert(kPlaces[8] == collector::kSavedRip && kPlaces[7] == collector::kSavedRsp &&
              kPlaces[6] == collector::kSavedRbp && kRegisterCount == collector::kSavedCount);

// Behind the fields of every record but samples (struct sample_id).
struct Trailer {
  std::uint32_t process, thread;
  std::uint64_t time;
  std::uint32_t cpu, reserved;
  std::uint64_t event;
};
static_assert(sizeof(Trailer) == 32);

// What a sample begins with.
struct Head {
  std::uint64_t event;
  std::uint32_t process, thread;
  std::uint64_t time, address;
  std::uint32_t cpu, reserved;
};
static_assert(sizeof(Head) == 40);

// Reads from a record, never beyond its end.
class Fields {
 public:
  explicit Fields(const perf_event_header& record)
      : at_(reinterpret_cast<const char*>(&record + 1)),
        end_(reinterpret_cast<const char*>(&record) + record.size) {}

  template <typename T>
  bool read(T& value) {
    const char* from = skip(sizeof value);
    if (from) std::memcpy(&value, from, sizeof value);
    return from;
  }
  // Returns where the next `bytes` bytes stand; null if the record has fewer left.
  const char* skip(std::uint64_t bytes) {
    if (bytes > static_cast<std::uint64_t>(end_ - at_)) return nullptr;
    const char* from = at_;
    at_ += bytes;
    return from;
  }
  std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - at_); }

 private:
  const char* at_;
  const char* end_;
};

bool read_trailer(const perf_event_header& record, Trailer& trailer) {
  if (record.size < sizeof record + sizeof trailer) return false;
  std::memcpy(&trailer, reinterpret_cast<const char*>(&record) + record.size - sizeof trailer,
              sizeof trailer);
  return true;
}

// The kernel writes a mark before each part of the stack (perf_event_open(2), PERF_CONTEXT_KERNEL).
bool read_kernel_stack(Fields& fields, Sample& sample) {
  std::uint64_t count = 0;
  if (!fields.read(count) || count > fields.left() / sizeof count) return false;
  const auto* const addresses =
      reinterpret_cast<const std::uint64_t*>(fields.skip(count * sizeof count));
  if (count != 0 && addresses[0] == static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL))
    sample.kernel = {addresses + 1, count - 1};
  return true;
}

// abi 0: the thread has no user part.
bool read_registers(Fields& fields, Sample& sample) {
  std::uint64_t abi = 0, registers[kRegisterCount];
  if (!fields.read(abi)) return false;
  if (abi == PERF_SAMPLE_REGS_ABI_NONE) return true;
  if (!fields.read(registers)) return false;
  sample.has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
  for (unsigned i = 0; i < kRegisterCount; ++i) sample.registers[kPlaces[i]] = registers[i];
  return true;
}

bool read_stack(Fields& fields, Sample& sample) {
  std::uint64_t size = 0;
  if (!fields.read(size)) return false;
  if (size == 0) return true;
  sample.stack = fields.skip(size);
  if (!sample.stack || !fields.read(sample.stack_bytes) || sample.stack_bytes > size) return false;
  sample.stack_is_short = sample.stack_bytes < size;
  return true;
}

}  // namespace

void ask_for_origin(perf_event_attr& attributes) {
  attributes.sample_type |= kOriginType;
  attributes.sample_id_all = 1;
}

// Not for its period as well: with that the kernel samples every page fault and every hit of a
// breakpoint, whatever the period (perf_swevent_event() in kernel/events/core.c).
void ask_for_stack(perf_event_attr& attributes, std::uint32_t stack_bytes) {
  attributes.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attributes.exclude_callchain_user = 1;
  attributes.sample_regs_user = kRegisters;
  attributes.sample_stack_user = stack_bytes;
}

std::uint64_t time_of(const perf_event_header& record) {
  if (record.type != PERF_RECORD_SAMPLE) return origin_of(record).time;
  Head head;
  return Fields(record).read(head) ? head.time : 0;
}

Origin origin_of(const perf_event_header& record) {
  Trailer trailer;
  if (!read_trailer(record, trailer)) return {};
  return {trailer.event, trailer.time, trailer.process, trailer.thread, trailer.cpu};
}

bool decode(const perf_event_header& record, Sample& sample) {
  sample = {};
  Fields fields(record);
  Head head;
  if (record.type != PERF_RECORD_SAMPLE || !fields.read(head)) return false;
  sample.origin = {head.event, head.time, head.process, head.thread, head.cpu};
  sample.address = head.address;
  sample.is_of_kernel = (record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
  return read_kernel_stack(fields, sample) && read_registers(fields, sample) &&
         read_stack(fields, sample);
}

bool decode(const perf_event_header& record, NewMapping& mapping) {
  struct Body {
    std::uint32_t process, thread;
    std::uint64_t begin, size, offset;
    std::uint32_t major, minor;
    std::uint64_t inode, generation;
    std::uint32_t protection, flags;
  } body;
  Fields fields(record);
  if (record.type != PERF_RECORD_MMAP2 || record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID ||
      !fields.read(body) || fields.left() < sizeof(Trailer))
    return false;
  const std::uint64_t room = fields.left() - sizeof(Trailer);
  const char* name = fields.skip(room);
  mapping = {body.begin,
             body.size,
             body.offset,
             body.inode,
             body.major,
             body.minor,
             {name, strnlen(name, room)}};
  return true;
}

bool decode(const perf_event_header& record, TaskChange& change) {
  Fields fields(record);
  return (record.type == PERF_RECORD_FORK || record.type == PERF_RECORD_EXIT) &&
         fields.read(change);
}

bool decode(const perf_event_header& record, ThreadCount& count) {
  return record.type == PERF_RECORD_READ && Fields(record).read(count);
}

bool is_throttle(const perf_event_header& record) { return record.type == PERF_RECORD_THROTTLE; }

std::uint64_t lost_in(const perf_event_header& record) {
  std::uint64_t id = 0, lost = 0;
  Fields fields(record);
  return record.type == PERF_RECORD_LOST && fields.read(id) && fields.read(lost) ? lost : 0;
}

bool is_exec(const perf_event_header& record) {
  return record.type == PERF_RECORD_COMM && record.misc & PERF_RECORD_MISC_COMM_EXEC;
}

std::string_view name_in(const perf_event_header& record) {
  std::uint32_t process = 0, thread = 0;
  Fields fields(record);
  if (record.type != PERF_RECORD_COMM || !fields.read(process) || !fields.read(thread) ||
      fields.left() < sizeof(Trailer))
    return {};
  const std::uint64_t room = fields.left() - sizeof(Trailer);
  const char* const name = fields.skip(room);
  return {name, strnlen(name, room)};
}

}  // namespace gnomon::outside
