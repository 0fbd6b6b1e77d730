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
  // functions count for those that they were inlined into, and without with_kernel the kernel's for
  // what called it.
  // part: number of the experiment's, from 0.
  StackFunctions(std::string directory, std::uint32_t part, AddressSpace& space, Places* places,
                 bool with_kernel, std::function<void(const Experiment&)> take_objects)
      : directory_(std::move(directory)),
        part_(part),
        space_(space),
        places_(places),
        with_kernel_(with_kernel),
        take_objects_(std::move(take_objects)) {}

  // The functions of a call stack, the innermost first, appended to `to` as numbers. Reads the
  // stacks that were added when the stack is not known yet. Fault: damage, or the user interrupted.
  Result<void> add(StackId stack, std::vector<std::int64_t>& to, const Interrupt& interrupt);
  // Reads the stacks that were added when that one is not known yet. Fault: as of `add`.
  Result<void> know(StackId stack, const Interrupt& interrupt);
  const AddressSpace& space() const { return space_; }
  // How many frames of functions are known.
  std::size_t size() const { return functions_.size(); }
  // Of all stacks that are known: every function, ascending.
  std::vector<std::int64_t> all() const;

 private:
  Result<void> read_new(const Interrupt& interrupt);
  void add_node(StackId id, const Interrupt& interrupt);

  std::string directory_;
  std::uint32_t part_;
  AddressSpace& space_;
  Places* places_;
  bool with_kernel_;
  std::function<void(const Experiment&)> take_objects_;
  Stacks stacks_;
  std::vector<Epoch> epochs_;        // by StackId
  std::vector<std::size_t> begins_;  // by StackId: in functions_, up to the next one's
  std::vector<FunctionId> functions_;
};

}  // namespace gnomon::reader
