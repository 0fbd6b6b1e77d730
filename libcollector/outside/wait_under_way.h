// Where a thread of another process waits, without stopping it. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "libcollector/format/events.h"
#include "libcollector/outside/record.h"

namespace gnomon::outside {

// A wait that began before anybody followed the thread. The kernel tells the system call, the stack
// pointer and the program counter (proc_pid_syscall(5)), and lets the stack be read. A debugger's
// stop would end some waits with EINTR, epoll_wait(2) among them (signal(7)).
class WaitUnderWay {
 public:
  explicit WaitUnderWay(pid_t pid) : pid_(pid) {}

  // Returns false if the thread is not in a system call, has gone on meanwhile, or may not be
  // looked at. Otherwise fills `sample`, of which rsp and rip alone are known; its stack stays
  // valid until the next call.
  bool look(std::uint32_t thread, Sample& sample);
  // Returns why that thread waits, as its system call says.
  format::ThreadState reason() const { return reason_; }

 private:
  static constexpr std::size_t kMostStack = 64 << 10;

  pid_t pid_;
  std::unique_ptr<char[]> stack_;
  format::ThreadState reason_ = format::ThreadState::blocked;
};

}  // namespace gnomon::outside
