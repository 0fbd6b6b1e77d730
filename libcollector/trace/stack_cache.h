// The call stacks of one thread's traced calls: a walk is reused as far out as nothing that it read
// has changed. In a hook, one call at a time.
#pragma once
#include <cstdint>

#include "libcollector/core/byte_range.h"
#include "libcollector/trace/growing_cache.h"
#include "libcollector/unwind/cursor.h"
#include "libcollector/unwind/rule.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// Gives frames their nodes in a stack table, `of`. Each function returns 0 if the recording has
// failed.
struct NodeMaker {
  void* of;
  // The node under which whole call stacks begin.
  std::uint32_t (*outermost)(void* of);
  // 0 also: the frame has none yet.
  std::uint32_t (*known)(void* of, std::uint32_t parent, std::uint64_t pc);
  // To be called while all signals are blocked.
  std::uint32_t (*make)(void* of, std::uint32_t parent, std::uint64_t pc);
};

// All-zero memory is an empty cache.
class StackCache {
 public:
  static constexpr std::uint32_t kFrames = 256;

  // Returns the node of the call stack. Returns 0 if the walk cannot be kept, because it is not
  // whole, is deeper than `depth`, leaves `stack`, or needs more than the plain rules. `call` lies
  // in `stack`, of which everything from the call outwards is mapped. A walk is a function of the
  // registers it begins with, of the rules, and of the words it reads from the stack. So a kept
  // walk holds from a frame outwards if that frame is met with the same return address at the same
  // place, and the same rbp if that matters there, and all the words that were read further out are
  // unchanged.
  std::uint32_t node_of(const Call& call, const ByteRange& stack, std::uint32_t depth,
                        Unwinder& unwinder, const NodeMaker& nodes);

  // Its nodes are of another table from here on.
  void forget();

 private:
  struct Frame {
    Call call;
    std::uint64_t fp_place;   // where the caller's rbp was read; 0: it was not read
    std::uint64_t end_place;  // of the outermost frame: a word that ended the walk; 0: none did
    std::uint64_t end_word;
    std::uint32_t node;
    std::uint32_t words;  // of words_, from the first: read by this frame and by those further out
    bool reads_fp;        // the step to the caller depends on rbp
    bool hands_fp_on;     // the caller's rbp is this frame's
    bool depends_on_fp;   // this step, or one further out that takes over this frame's rbp
  };
  struct Word {
    std::uint64_t place, value;
  };
  struct KnownRule {
    std::uint64_t pc;
    PackedRule rule;
  };
  struct KnownNode {
    std::uint64_t pc;
    std::uint32_t parent, node;
  };
  enum class Step : std::uint8_t { caller, outermost, not_kept };

  bool is_met(const Frame& frame, const Call& call) const;
  bool are_unchanged(std::uint32_t words) const;
  std::uint32_t keep_inner_part(std::uint32_t count, std::uint64_t fp);
  Step step(Frame& from, Call& caller, const ByteRange& stack, Unwinder& unwinder);
  PackedRule rule_at(std::uint64_t pc, Unwinder& unwinder);
  std::uint32_t node_at(std::uint32_t parent, std::uint64_t pc, const NodeMaker& nodes);
  std::uint32_t name_frames(std::uint32_t from, std::uint32_t to, const Unwinder& unwinder,
                            const NodeMaker& nodes);
  std::uint32_t append(const Unwinder& unwinder, const NodeMaker& nodes);
  void put(std::uint32_t count, std::uint32_t fresh);

  std::uint32_t version_;        // of the rules
  std::uint32_t base_;           // node under which the frames stand
  std::uint32_t count_;          // of frames_
  std::uint32_t fresh_;          // of fresh_frames_
  Frame frames_[kFrames];        // outermost first
  Frame fresh_frames_[kFrames];  // of the walk under way, innermost first
  Word words_[2 * kFrames + 2];
  GrowingCache<KnownRule> rules_;
  GrowingCache<KnownNode> nodes_;
};

}  // namespace gnomon::collector
