// Frame table: the frame description entry (FDE) of a pc in a load object's .eh_frame. Any context;
// takes no lock.
#pragma once
#include <cstdint>

#include "libcollector/unwind/byte_reader.h"

namespace gnomon::collector {

// Where a load object's call frame information is: its .eh_frame_hdr or, where it has none, its
// .eh_frame, and the mapped, readable memory in which these may lie.
struct FrameTable {
  static constexpr std::uint32_t kMaxSegments = 16;

  std::uint64_t header = 0;  // 0: none
  ByteRange frames;          // .eh_frame; read only without a header
  ByteRange segments[kMaxSegments];
  std::uint32_t segment_count = 0;
  // The object lies in another process, and its file is mapped here: address here - address there.
  std::uint64_t shift = 0;

  // Does nothing if there is no room.
  void add(const ByteRange& segment) {
    if (segment_count < kMaxSegments) segments[segment_count++] = segment;
  }
  // Returns the segment that contains `address`; empty if there is none.
  ByteRange segment_of(std::uint64_t address) const {
    for (std::uint32_t i = 0; i < segment_count; ++i)
      if (segments[i].contains(address)) return segments[i];
    return {};
  }
};

// What one FDE and its CIE say.
struct FrameDescription {
  ByteRange code;                  // the pcs it is about
  ByteRange common, instructions;  // call frame instructions of the CIE, then of the FDE
  std::uint64_t code_align = 1;
  std::int64_t data_align = 1;
  std::uint64_t return_register = 0;
  bool augmented = false;     // augmentation 'z': the FDE has augmentation data too
  bool signal_frame = false;  // augmentation 'S'
  std::uint8_t pointer_encoding = 0;
};

enum class Found : std::uint8_t { yes, no, damaged };

// pc, and the addresses found: here.
Found find_frame(const FrameTable& table, std::uint64_t pc, FrameDescription& found);

}  // namespace gnomon::collector
