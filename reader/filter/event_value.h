// The value of an expression for each event of an experiment. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/event.h"
#include "reader/filter/expression.h"
#include "reader/filter/stack_functions.h"
#include "reader/filter/tokens.h"
#include "reader/samples/instants.h"

namespace gnomon::reader {

// Returns true if events of a kind can have the property.
bool has_property(const EventLayout& layout, const Token& token);

class EventValue {
 public:
  // experiment, instants: must outlive the object. number: of the experiment, from 1. Fault: a
  // regular expression is wrong, or no kind of event has a property that is asked for.
  static Result<EventValue> bind(Expression expression, const Experiment& experiment,
                                 std::uint32_t number, const Instants& instants,
                                 std::unique_ptr<StackFunctions> functions);

  // None: the event lacks a property that the value depends on. Arithmetic is that of 64 bits; what
  // is divided by 0 is 0. Fault: damage of the stacks, or the user interrupted.
  Result<std::optional<std::int64_t>> of(const Event& event, const Interrupt& interrupt);

 private:
  using Value = std::optional<std::int64_t>;
  using List = std::vector<std::int64_t>;
  using Node = Expression::Node;

  EventValue(Expression expression, const Experiment& experiment, std::uint32_t number,
             const Instants& instants, std::unique_ptr<StackFunctions> functions);
  Value number(std::uint32_t node);
  Value binary(const Node& node);
  Value logical(const Node& node);
  Value membership(std::uint32_t node);
  bool compare_lists(const Node& node, bool& is_known);
  bool stands_in_order(const Node& node, List& right, bool& is_known);
  bool add_list(std::uint32_t node, List& to);
  bool depends_on_stack_alone(std::uint32_t node) const;
  Value property(const Token& token);
  Value field(std::string_view token) const;
  std::uint64_t stack() const;
  bool add_stack(List& to);
  const List& functions(std::uint32_t node);
  const List& threads(std::uint32_t node);

  Expression expression_;
  const Experiment* experiment_;
  std::uint32_t number_;
  const Instants* instants_;
  std::unique_ptr<StackFunctions> functions_;
  // By node: what a test of lists says of each stack; 0: not asked yet.
  enum class Known : std::uint8_t { no = 1, yes = 2, absent = 3 };
  std::vector<std::vector<std::uint8_t>> known_;
  // By node of FNAME and TNAME: what is named, ascending, of so many.
  struct Named {
    bool is_known = false;
    std::size_t of = 0;
    List list = {};
  };
  std::vector<Named> lists_;
  std::vector<bool> of_stack_;  // by node: it depends on the stack alone
  const Event* event_ = nullptr;
  const Interrupt* interrupt_ = nullptr;
  std::optional<Fault> fault_;
};

}  // namespace gnomon::reader
