// The part of a stack that lies beyond the kernel's copy. In gnomon-sampler.
#include "libcollector/outside/outer_stack.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <new>

#include "libcollector/unwind/registers.h"

namespace gnomon::outside {

// A vector of pages, because no piece of a vector is read in part (process_vm_readv(2)). A call
// pushes its return address right below the frame's stack pointer.
OuterStack::Found OuterStack::extend(Sample& sample, const collector::Walked& walked,
                                     std::uint64_t& call) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t copied = sample.stack_bytes;
  const std::uint64_t sp = sample.registers[collector::kSavedRsp], end = sp + copied;
  const std::uint64_t slot = walked.sp - kWord;
  if (copied < kWord || copied > kCopy) return Found::nothing;
  if (walked.count < 2 || slot < sp || slot > end - kWord) return Found::unknown;
  if (!words_) words_.reset(new (std::nothrow) char[kCopy + kMost]);
  if (!words_) return Found::unknown;
  const iovec here[] = {{&call, kWord}, {words_.get() + copied, beyond_}};
  std::array<iovec, kMost / kPage + 2> there;
  std::size_t count = 0, asked = 0;
  there[count++] = {reinterpret_cast<void*>(slot), kWord};
  for (std::uint64_t at = end; asked < beyond_; at += there[count++].iov_len) {
    const std::size_t piece = std::min(kPage - at % kPage, beyond_ - asked);
    there[count] = {reinterpret_cast<void*>(at), piece};
    asked += piece;
  }
  const ssize_t bytes = process_vm_readv(pid_, here, std::size(here), there.data(), count, 0);
  if (bytes < static_cast<ssize_t>(kWord)) return Found::unknown;
  if (bytes == static_cast<ssize_t>(kWord)) return Found::nothing;
  std::memcpy(words_.get(), sample.stack, copied);
  sample.stack = words_.get();
  sample.stack_bytes += static_cast<std::uint64_t>(bytes) - kWord;
  return Found::more;
}

bool OuterStack::ask_for_more() {
  if (beyond_ == kMost) return false;
  beyond_ *= 2;
  return true;
}

}  // namespace gnomon::outside
