// Frames of load objects, or of the kernel, of which reports do not show every function. Any
// thread, one at a time.
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

  Collapse(AddressSpace& space, const StackFrames& frames, bool with_kernel)
      : space_(space), hides_kernel_(frames.has_kernel && !with_kernel) {
    if (!space.has_expansions() && !hides_kernel_) return;
    shown_as_.resize(frames.all.size());
    files_.resize(frames.all.size(), Location::kNoFile);
  }

  // To be called for each frame, for callers before what they call.
  Kind look(std::uint32_t id, const StackFrame& frame) {
    if (shown_as_.empty()) return Kind::shown;
    shown_as_[id] = id;
    if (hides_kernel_ && frame.kind == FrameKind::code && format::is_kernel(frame.pc) &&
        frame.caller != 0) {
      shown_as_[id] = shown_as_[frame.caller];
      files_[id] = files_[frame.caller];
      return Kind::inner;
    }
    const auto file =
        frame.kind == FrameKind::code ? space_.file_at(frame.pc, frame.epoch) : std::nullopt;
    const Expansion expansion = file ? space_.expansion_of(*file) : Expansion::show;
    if (expansion == Expansion::show) return Kind::shown;
    files_[id] = *file;
    if (files_[frame.caller] == *file) {
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
  AddressSpace& space_;
  bool hides_kernel_;
  std::vector<std::uint32_t> shown_as_;  // by number of the frame; empty: every frame is shown
  std::vector<std::size_t> files_;       // likewise; kNoFile: all functions of the file are shown
};

}  // namespace gnomon::reader
