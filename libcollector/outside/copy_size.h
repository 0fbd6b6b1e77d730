// How much of the stack is copied with each sample. In gnomon-sampler.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gnomon::outside {

class CopySize {
 public:
  // period: between two samples of a CPU, ns; 0: not known. Begins with more the longer that is.
  explicit CopySize(std::uint64_t period);

  std::uint32_t bytes() const { return bytes_; }

  struct Seen {
    std::uint64_t samples = 0;
    std::uint64_t cut = 0;   // call stacks that ended with the copy
    std::uint64_t lost = 0;  // records for which a ring had no room
  };
  // Takes notice of what has come with the present size. ring: bytes of a CPU's. Returns true if
  // another size is better: larger if stacks were cut and the rings have room for it, smaller for
  // good if records were lost.
  bool adapt(const Seen& seen, std::size_t ring);
  // The size is to stay, because the kernel does not give events of the new one.
  void keep(std::uint32_t bytes) {
    bytes_ = bytes;
    is_final_ = true;
  }

 private:
  std::uint64_t period_;
  std::uint32_t bytes_;
  bool is_final_ = false;
};

}  // namespace gnomon::outside
