// Frames of load objects of which reports do not show every function. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "reader/analysis/stack_frames.h"
#include "reader/symbols/address_space.h"

namespace gnomon::reader {

class Collapse {
 public:
  // shown: as it is. hidden: as its file's only function. inner: not at all, as the frame that it
  // was called from stands for it.
  enum class Kind { shown, hidden, inner };

  Collapse(const AddressSpace& space, std::size_t frames) : space_(space) {
    if (!space.has_expansions()) return;
    shown_as_.resize(frames);
    files_.resize(frames, Location::kNoFile);
  }

  // To be called for each frame, for callers before what they call.
  Kind look(std::uint32_t id, const StackFrame& frame) {
    if (shown_as_.empty()) return Kind::shown;
    shown_as_[id] = id;
    const auto code =
        frame.kind == FrameKind::code ? space_.locate(frame.pc, frame.epoch) : std::nullopt;
    const Expansion expansion = code ? space_.expansion_of(code->file) : Expansion::show;
    if (expansion == Expansion::show) return Kind::shown;
    files_[id] = code->file;
    if (files_[frame.caller] == code->file) {
      shown_as_[id] = shown_as_[frame.caller];
      return Kind::inner;
    }
    return expansion == Expansion::hide ? Kind::hidden : Kind::shown;
  }

  // The frame that stands for this one.
  std::uint32_t shown_as(std::uint32_t id) const { return shown_as_.empty() ? id : shown_as_[id]; }
  // Of a frame that is not shown as it is.
  std::size_t file(std::uint32_t id) const { return files_[id]; }

 private:
  const AddressSpace& space_;
  std::vector<std::uint32_t> shown_as_;  // by number of the frame; empty: every frame is shown
  std::vector<std::size_t> files_;       // likewise; kNoFile: all functions of the file are shown
};

}  // namespace gnomon::reader
