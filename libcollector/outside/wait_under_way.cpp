// Where a thread of another process waits, without stopping it. In gnomon-sampler.
#include "libcollector/outside/wait_under_way.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "libcollector/core/small_file.h"
#include "libcollector/core/time.h"
#include "libcollector/unwind/registers.h"

namespace gnomon::outside {
namespace {

using Text = std::array<char, 256>;
constexpr std::size_t kStackPage = 4096;

// "1 0x3 0x7f.. 0x.. 0x.. 0x.. 0x.. 0x7ffe.. 0x7f..": the number, six arguments, the stack pointer
// and the program counter.
struct Call {
  long number = -1;
  std::uint64_t sp = 0, pc = 0;
};

bool read_call(const std::string& path, Text& text, Call& call) {
  text.fill(0);
  if (collector::read_small_file(path.c_str(), text.data(), text.size()) == 0) return false;
  char* at = nullptr;
  call.number = std::strtol(text.data(), &at, 10);
  if (at == text.data() || call.number < 0) return false;  // "running", or in no call
  constexpr int kArguments = 6;
  for (int i = 0; i < kArguments; ++i) std::strtoull(at, &at, 16);
  call.sp = std::strtoull(at, &at, 16);
  call.pc = std::strtoull(at, &at, 16);
  return call.sp != 0 && call.sp % sizeof(std::uint64_t) == 0 && call.pc != 0;
}

format::ThreadState reason_of(long number) {
  switch (number) {
    case SYS_futex:
    case SYS_futex_waitv:
      return format::ThreadState::lock;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
      return format::ThreadState::sleep;
    default:
      return format::ThreadState::other_wait;
  }
}

// A vector of pages, because no piece of a vector is read in part (process_vm_readv(2)).
std::size_t read_words(pid_t pid, std::uint64_t sp, char* to, std::size_t size) {
  std::array<iovec, 64> there;
  const iovec here{to, size};
  std::size_t count = 0, asked = 0;
  for (std::uint64_t at = sp; asked < size && count < there.size(); at += there[count++].iov_len) {
    const std::size_t piece = std::min(kStackPage - at % kStackPage, size - asked);
    there[count] = {reinterpret_cast<void*>(at), piece};
    asked += piece;
  }
  const ssize_t bytes = process_vm_readv(pid, &here, 1, there.data(), count, 0);
  return bytes < 0 ? 0 : static_cast<std::size_t>(bytes);
}

}  // namespace

bool WaitUnderWay::look(std::uint32_t thread, Sample& sample) {
  const std::string path = std::string("/proc/")
                               .append(std::to_string(pid_))
                               .append("/task/")
                               .append(std::to_string(thread))
                               .append("/syscall");
  if (!stack_) stack_.reset(new (std::nothrow) char[kMostStack]);
  Text before, behind;
  Call call, again;
  if (!stack_ || !read_call(path, before, call)) return false;
  sample = {};
  sample.origin.process = static_cast<std::uint32_t>(pid_);
  sample.origin.thread = thread;
  sample.origin.time = collector::now(CLOCK_MONOTONIC);
  sample.registers[collector::kSavedRsp] = call.sp;
  sample.registers[collector::kSavedRip] = call.pc;
  sample.registers[collector::kSavedRbp] = kNoFramePointer;
  sample.has_registers = true;
  sample.has_few_registers = true;
  sample.stack = stack_.get();
  sample.stack_bytes = read_words(pid_, call.sp, stack_.get(), kMostStack);
  sample.stack_is_short = sample.stack_bytes < kMostStack;
  reason_ = reason_of(call.number);
  return sample.stack_bytes != 0 && read_call(path, behind, again) && before == behind;
}

}  // namespace gnomon::outside
