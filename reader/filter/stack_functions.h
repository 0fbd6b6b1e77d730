// The functions of call stacks, while events that name those stacks are still being read. Any
// thread, one at a time.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/stacks.h"
#include "reader/lines/places.h"
#include "reader/symbols/address_space.h"

namespace gnomon::reader {

class StackFunctions {
 public:
  // take_objects: has the address space know the load objects of an experiment. space, and places
  // for as long as inlined functions are shown, must outlive this object. Without `places` inlined
  // functions count for those that they were inlined into.
  // first_epoch: of the experiment's part.
  StackFunctions(std::string directory, std::uint32_t first_epoch, AddressSpace& space,
                 Places* places, std::function<void(const Experiment&)> take_objects)
      : directory_(std::move(directory)),
        first_epoch_(first_epoch),
        space_(space),
        places_(places),
        take_objects_(std::move(take_objects)) {}

  // The functions of a call stack, the innermost first, appended to `to` as numbers. Reads the
  // stacks that were added when the stack is not known yet. Fault: damage, or the user interrupted.
  Result<void> add(StackId stack, std::vector<std::int64_t>& to, const Interrupt& interrupt);
  const AddressSpace& space() const { return space_; }
  // Of all stacks: every function, ascending. Complete once `add` was called.
  std::vector<std::int64_t> all() const;

 private:
  Result<void> read_new(const Interrupt& interrupt);
  void add_node(StackId id, const Interrupt& interrupt);

  std::string directory_;
  std::uint32_t first_epoch_;
  AddressSpace& space_;
  Places* places_;
  std::function<void(const Experiment&)> take_objects_;
  Stacks stacks_;
  std::vector<std::uint32_t> epochs_;  // by StackId
  std::vector<std::size_t> begins_;    // by StackId: in functions_, up to the next one's
  std::vector<FunctionId> functions_;
};

}  // namespace gnomon::reader
