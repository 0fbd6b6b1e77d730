// How much of the stack is copied with each sample. In gnomon-sampler.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gnomon::outside {

class CopySize {
 public:
  // period: between two samples of a CPU, ns; 0: not known. ring: bytes of a CPU's. Begins with
  // what the ring surely holds.
  CopySize(std::uint64_t period, std::size_t ring);

  std::uint32_t bytes() const { return bytes_; }
  // Of events besides the clock's, whose number the program decides: a switch, what is counted.
  std::uint32_t bytes_of_others() const { return std::min(bytes_, kOthers); }

  struct Seen {
    std::uint64_t samples = 0;
    std::uint64_t cut = 0;   // call stacks that ended with the copy
    std::uint64_t lost = 0;  // records for which a ring had no room
    std::uint64_t used = 0;  // bytes of the deepest whole stack
  };
  // Takes notice of what has come with the present size. Returns true if another size is better:
  // larger if stacks were cut and the rings have room for it, smaller for good if records were
  // lost, and smaller if half a second has shown that less does and copies are many.
  bool adapt(const Seen& seen);
  // The size is to stay, because the kernel does not give events of the new one.
  void keep(std::uint32_t bytes) {
    bytes_ = bytes;
    is_final_ = true;
  }

 private:
  bool fit();

  static constexpr std::uint32_t kOthers = 8192;

  std::uint64_t period_;
  std::size_t ring_;
  std::uint32_t bytes_;
  std::uint64_t samples_ = 0, used_ = 0;  // of all that has been seen
  bool is_final_ = false, is_fitted_ = false;
};

}  // namespace gnomon::outside
