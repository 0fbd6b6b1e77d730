// The value of an expression for each event of an experiment. Any thread, one at a time.
#include "reader/filter/event_value.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <set>

#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

// A regular expression of POSIX that a whole name matches.
class WholeMatch {
 public:
  explicit WholeMatch(const std::string& text)
      : is_sound_(regcomp(&regex_, ("^(" + text + ")$").c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
  WholeMatch(const WholeMatch&) = delete;
  WholeMatch& operator=(const WholeMatch&) = delete;
  ~WholeMatch() {
    if (is_sound_) regfree(&regex_);
  }
  bool is_sound() const { return is_sound_; }
  bool matches(const std::string& name) const {
    return is_sound_ && regexec(&regex_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t regex_;
  bool is_sound_;
};

bool is_stack(const Expression::Node& node) {
  return node.op == Operator::token &&
         token_table()[static_cast<std::size_t>(node.number)].source == TokenSource::stack;
}

const EventLayout::Field* field_named(const EventLayout& layout, std::string_view token) {
  for (const EventLayout::Field& each : layout.fields)
    if (each.token == token) return &each;
  return nullptr;
}

std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// Both without signs, where overflow is defined.
std::int64_t arithmetic(Operator op, std::int64_t left, std::int64_t right) {
  const auto a = static_cast<std::uint64_t>(left), b = static_cast<std::uint64_t>(right);
  const bool has_quotient = right != 0 && !(right == -1 && left == INT64_MIN);
  switch (op) {
    case Operator::add:
      return wrapped(a + b);
    case Operator::subtract:
      return wrapped(a - b);
    case Operator::multiply:
      return wrapped(a * b);
    case Operator::divide:
      return has_quotient ? left / right : 0;
    case Operator::remainder:
      return has_quotient ? left % right : 0;
    case Operator::shift_left:
      return b < 64 ? wrapped(a << b) : 0;
    case Operator::shift_right:
      return b < 64 ? wrapped(a >> b) : 0;
    case Operator::bit_and:
      return wrapped(a & b);
    case Operator::bit_or:
      return wrapped(a | b);
    case Operator::bit_xor:
      return wrapped(a ^ b);
    case Operator::equal:
      return left == right;
    case Operator::not_equal:
      return left != right;
    case Operator::less:
      return left < right;
    case Operator::less_equal:
      return left <= right;
    case Operator::greater:
      return left > right;
    default:
      return left >= right;
  }
}

}  // namespace

bool has_property(const EventLayout& layout, const Token& token) {
  switch (token.source) {
    case TokenSource::field:
      return field_named(layout, token.name);
    case TokenSource::microseconds:
      return field_named(layout, "NTICK_NSEC");
    case TokenSource::thread:
      return layout.is_compact || field_named(layout, "THRID");
    case TokenSource::cpu:
      return layout.is_compact || field_named(layout, "CPUID");
    case TokenSource::time:
    case TokenSource::begin:
    case TokenSource::sample:
      return field_named(layout, "TSTAMP");
    case TokenSource::leaf:
    case TokenSource::stack:
      return field_named(layout, "STACK");
    default:
      return true;
  }
}

EventValue::EventValue(Expression expression, const Experiment& experiment, std::uint32_t number,
                       const Instants& instants, std::unique_ptr<StackFunctions> functions)
    : expression_(std::move(expression)),
      experiment_(&experiment),
      number_(number),
      instants_(&instants),
      functions_(std::move(functions)),
      known_(expression_.nodes.size()),
      lists_(expression_.nodes.size()) {
  for (std::uint32_t node = 0; node < expression_.nodes.size(); ++node)
    of_stack_.push_back(depends_on_stack_alone(node));
}

Result<EventValue> EventValue::bind(Expression expression, const Experiment& experiment,
                                    std::uint32_t number, const Instants& instants,
                                    std::unique_ptr<StackFunctions> functions) {
  for (const Node& node : expression.nodes) {
    if ((node.op == Operator::function_names || node.op == Operator::thread_names) &&
        !WholeMatch(node.text).is_sound())
      return fault(node.text + " is no regular expression", "see regex(7)");
    if (node.op != Operator::token) continue;
    const Token& token = token_table()[static_cast<std::size_t>(node.number)];
    const auto& kinds = experiment.header.events;
    if (std::none_of(kinds.begin(), kinds.end(),
                     [&](const EventLayout& kind) { return has_property(kind, token); }))
      return fault(fmt::format("no event of this experiment has {}", token.name),
                   "`describe` lists what they have");
  }
  return EventValue(std::move(expression), experiment, number, instants, std::move(functions));
}

// The nodes of the parts stand before.
bool EventValue::depends_on_stack_alone(std::uint32_t number) const {
  const Node& node = expression_.nodes[number];
  if (node.op == Operator::token) {
    const TokenSource source = token_table()[static_cast<std::size_t>(node.number)].source;
    return source == TokenSource::leaf || source == TokenSource::stack;
  }
  if (node.op == Operator::has_property) return false;
  return std::all_of(node.parts.begin(), node.parts.end(),
                     [this](std::uint32_t part) { return of_stack_[part]; });
}

Result<std::optional<std::int64_t>> EventValue::of(const Event& event, const Interrupt& interrupt) {
  event_ = &event;
  interrupt_ = &interrupt;
  const Value value = number(static_cast<std::uint32_t>(expression_.nodes.size() - 1));
  if (fault_) return tl::unexpected(*fault_);
  return value;
}

EventValue::Value EventValue::number(std::uint32_t number_of_node) {
  const Node& node = expression_.nodes[number_of_node];
  const auto part = [&](std::size_t i) { return number(node.parts[i]); };
  switch (node.op) {
    case Operator::number:
      return node.number;
    case Operator::token:
      return property(token_table()[static_cast<std::size_t>(node.number)]);
    case Operator::has_property:
      return has_property(event_->layout, token_table()[static_cast<std::size_t>(node.number)]);
    case Operator::in:
    case Operator::some_in:
    case Operator::ordered_in:
      return membership(number_of_node);
    case Operator::conditional: {
      const Value first = part(0);
      return first ? part(*first != 0 ? 1 : 2) : first;
    }
    case Operator::logical_and:
    case Operator::logical_or:
      return logical(node);
    case Operator::negate:
    case Operator::logical_not:
    case Operator::bit_not: {
      const Value operand = part(0);
      if (!operand) return operand;
      return node.op == Operator::logical_not ? std::int64_t{*operand == 0}
             : node.op == Operator::bit_not   ? ~*operand
                                              : arithmetic(Operator::subtract, 0, *operand);
    }
    default: {
      const Value left = part(0);
      const Value right = left ? part(1) : left;
      return right ? Value(arithmetic(node.op, *left, *right)) : right;
    }
  }
}

// What lacks a property is neither true nor false; the other operand may decide.
EventValue::Value EventValue::logical(const Node& node) {
  const std::int64_t decides = node.op == Operator::logical_or ? 1 : 0;
  const Value left = number(node.parts[0]);
  if (left && (*left != 0) == (decides != 0)) return decides;
  const Value right = number(node.parts[1]);
  if (right && (*right != 0) == (decides != 0)) return decides;
  return left && right ? Value(1 - decides) : std::nullopt;
}

EventValue::Value EventValue::membership(std::uint32_t number_of_node) {
  const Node& node = expression_.nodes[number_of_node];
  const auto test = [&]() -> Known {
    bool is_known = true;
    const bool holds = compare_lists(node, is_known);
    return !is_known ? Known::absent : holds ? Known::yes : Known::no;
  };
  const auto value_of = [](Known known) {
    return known == Known::absent ? Value() : Value(known == Known::yes ? 1 : 0);
  };
  if (!of_stack_[number_of_node] || !has_property(event_->layout, kStackToken))
    return value_of(test());
  std::vector<std::uint8_t>& known = known_[number_of_node];
  const std::uint64_t id = stack();
  if (id >= known.size()) known.resize(std::max<std::size_t>(id + 1, 2 * known.size()));
  if (known[id] == 0) known[id] = static_cast<std::uint8_t>(test());
  return value_of(static_cast<Known>(known[id]));
}

bool EventValue::compare_lists(const Node& node, bool& is_known) {
  List right;
  is_known = add_list(node.parts[1], right);
  if (!is_known) return false;
  if (node.op == Operator::ordered_in) return stands_in_order(node, right, is_known);
  List left;
  is_known = add_list(node.parts[0], left);
  if (!is_known) return false;
  const bool all = node.op == Operator::in;
  List& larger = all || right.size() > left.size() ? right : left;
  const List& other = &larger == &right ? left : right;
  std::sort(larger.begin(), larger.end());
  const auto is_there = [&](std::int64_t each) {
    return std::binary_search(larger.begin(), larger.end(), each);
  };
  return all ? std::all_of(other.begin(), other.end(), is_there)
             : std::any_of(other.begin(), other.end(), is_there);
}

// The elements of the left list, each of which may be a list of choices, stand behind one another
// in the right list: of a call stack from the outermost function on.
bool EventValue::stands_in_order(const Node& node, List& right, bool& is_known) {
  if (is_stack(expression_.nodes[node.parts[1]])) std::reverse(right.begin(), right.end());
  const Node& left = expression_.nodes[node.parts[0]];
  const std::vector<std::uint32_t> parts =
      left.op == Operator::list ? left.parts : std::vector<std::uint32_t>{node.parts[0]};
  std::vector<std::set<std::int64_t>> wanted;
  for (const std::uint32_t part : parts) {
    List choices;
    is_known = add_list(part, choices);
    if (!is_known) return false;
    wanted.emplace_back(choices.begin(), choices.end());
  }
  const auto fits = [](std::int64_t each, const std::set<std::int64_t>& choices) {
    return choices.contains(each);
  };
  return std::search(right.begin(), right.end(), wanted.begin(), wanted.end(), fits) != right.end();
}

// Returns false if the event lacks a property that the list depends on.
bool EventValue::add_list(std::uint32_t number_of_node, List& to) {
  const Node& node = expression_.nodes[number_of_node];
  if (is_stack(node)) return add_stack(to);
  switch (node.op) {
    case Operator::list:
      return std::all_of(node.parts.begin(), node.parts.end(),
                         [&](std::uint32_t part) { return add_list(part, to); });
    case Operator::function_names:
    case Operator::thread_names: {
      const List& named =
          node.op == Operator::function_names ? functions(number_of_node) : threads(number_of_node);
      to.insert(to.end(), named.begin(), named.end());
      return true;
    }
    default: {
      const Value value = number(number_of_node);
      if (value) to.push_back(*value);
      return value.has_value();
    }
  }
}

bool EventValue::add_stack(List& to) {
  if (!has_property(event_->layout, kStackToken)) return false;
  const auto added = functions_->add(StackId{static_cast<std::uint32_t>(stack())}, to, *interrupt_);
  if (!added && !fault_) fault_ = added.error();
  return added.has_value();
}

// By name as `csingle` takes names, or by a regular expression for the whole name.
const EventValue::List& EventValue::functions(std::uint32_t node) {
  Named& named = lists_[node];
  const AddressSpace& space = functions_->space();
  if (has_property(event_->layout, kStackToken)) {
    const auto known = functions_->know(StackId{static_cast<std::uint32_t>(stack())}, *interrupt_);
    if (!known && !fault_) fault_ = known.error();
  }
  if (named.is_known && named.of == functions_->size()) return named.list;
  const std::string& text = expression_.nodes[node].text;
  const WholeMatch match(text);
  named = {true, functions_->size(), {}};
  for (const std::int64_t id : functions_->all()) {
    const std::string& name = space.function(FunctionId{static_cast<std::uint32_t>(id)}).name;
    if (names_function(text, name) || match.matches(name)) named.list.push_back(id);
  }
  return named.list;
}

// Of those that samples name.
const EventValue::List& EventValue::threads(std::uint32_t node) {
  Named& named = lists_[node];
  const std::size_t samples = instants_->samples.all().size();
  if (named.is_known && named.of == samples) return named.list;
  const std::string& text = expression_.nodes[node].text;
  const WholeMatch match(text);
  std::set<std::int64_t> found;
  const auto take = [&](const ThreadSample& thread) {
    if (thread.name == text || match.matches(thread.name)) found.insert(thread.thread);
  };
  for (const ThreadSample& thread : instants_->samples.baseline()) take(thread);
  for (const Sample& sample : instants_->samples.all())
    for (const ThreadSample& thread : sample.threads) take(thread);
  named = {true, samples, {found.begin(), found.end()}};
  return named.list;
}

EventValue::Value EventValue::field(std::string_view token) const {
  const auto* const found = field_named(event_->layout, token);
  return found ? Value(wrapped(event_->value(*found))) : std::nullopt;
}

std::uint64_t EventValue::stack() const {
  return static_cast<std::uint64_t>(field("STACK").value_or(0));
}

EventValue::Value EventValue::property(const Token& token) {
  if (!has_property(event_->layout, token)) return std::nullopt;
  switch (token.source) {
    case TokenSource::field:
      return field(token.name);
    case TokenSource::microseconds:
      return *field("NTICK_NSEC") / 1000;
    case TokenSource::thread:
      return event_->layout.is_compact ? std::int64_t{event_->block.thread} : field("THRID");
    case TokenSource::cpu: {
      const Value cpu =
          event_->layout.is_compact ? std::int64_t{event_->block.cpu} : field("CPUID");
      return cpu == std::int64_t{format::kNoCpu} ? -1 : cpu;
    }
    case TokenSource::time:
      return *field("TSTAMP") - wrapped(experiment_->control.start_time);
    case TokenSource::begin:
      return *field("TSTAMP") - wrapped(experiment_->control.start_time) -
             field("EVT_TIME").value_or(0);
    case TokenSource::sample: {
      const auto& samples = instants_->samples.all();
      const auto time = static_cast<std::uint64_t>(*field("TSTAMP"));
      const auto at = std::lower_bound(
          samples.begin(), samples.end(), time,
          [](const Sample& sample, std::uint64_t instant) { return sample.time < instant; });
      return at - samples.begin() + 1;
    }
    case TokenSource::experiment:
      return std::int64_t{number_};
    case TokenSource::process:
      return static_cast<std::int64_t>(experiment_->header.pid);
    default: {
      List functions;
      if (!add_stack(functions) || functions.empty()) return std::nullopt;
      return functions.front();
    }
  }
}

}  // namespace gnomon::reader
