// The part of a stack that lies beyond the kernel's copy. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "libcollector/outside/record.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::outside {

// The kernel copies 64 KiB of a stack at most, and its copy ends at a page that is not mapped, such
// as within a large array of a function that has used only its end. The outermost calls last long:
// what lies beyond is read from the process when the sample comes to be looked at
// (process_vm_readv(2)), if the outermost frame that is known still stands there.
class OuterStack {
 public:
  explicit OuterStack(pid_t pid) : pid_(pid) {}

  enum class Found {
    more,     // the sample's stack has become longer
    nothing,  // the stack itself ends there
    unknown,  // this program may not look, or the process has ended
  };
  // Adds what lies beyond the copy of a stack whose walk ended with it, and stores the return
  // address of the call that the outermost known frame makes now. Pages that the program has not
  // used yet get mapped by the reading: the kernel's page of zeros, which needs no memory. The
  // sample's stack stays valid until the next call.
  Found extend(Sample& sample, const collector::Walked& walked, std::uint64_t& call);
  // Makes the next calls read more. Returns false if they read as much as possible.
  bool ask_for_more();

 private:
  static constexpr std::size_t kPage = 4096, kCopy = 64 << 10, kMost = 1 << 20;

  pid_t pid_;
  std::size_t beyond_ = 64 << 10;  // bytes to read
  std::unique_ptr<char[]> words_;  // the copy, then what lies beyond
};

}  // namespace gnomon::outside
