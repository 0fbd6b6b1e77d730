// Frame table: the frame description entry (FDE) of a pc in a load object's .eh_frame. Any context;
// takes no lock.
#pragma once
#include <cstdint>

#include "libcollector/unwind/byte_reader.h"

namespace gnomon::collector {

// A load object's .eh_frame_hdr and the mapped, readable memory around it, in which its .eh_frame
// is expected too.
struct FrameTable {
  std::uint64_t header = 0;
  ByteRange segment;
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

Found find_frame(const FrameTable& table, std::uint64_t pc, FrameDescription& found);

}  // namespace gnomon::collector
