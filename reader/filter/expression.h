// Expressions over the properties of an event, which filters and index objects are made of: parsed,
// not yet bound to an experiment. (er_print(1), "Expression Grammar".) Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::reader {

enum class Operator : std::uint8_t {
  number,
  token,           // a property, by its row in token_table()
  function_names,  // FNAME("RE"): the functions whose names match
  thread_names,    // TNAME("RE"): the threads whose names match
  has_property,
  list,
  conditional,
  logical_or,
  logical_and,
  bit_or,
  bit_xor,
  bit_and,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,          // every element of the left list is in the right one
  some_in,     // at least one is
  ordered_in,  // the left list stands in the right one as it is, nothing between
  shift_left,
  shift_right,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  negate,
  logical_not,
  bit_not,
};

struct Expression {
  struct Node {
    Operator op = Operator::number;
    std::int64_t number = 0;           // of a number, or the token's row
    std::string text = {};             // regular expression of FNAME and TNAME
    std::vector<std::uint32_t> parts;  // operands, which have smaller numbers
    bool is_list = false;
  };
  std::vector<Node> nodes;  // the last is the whole
};

// Numbers are decimal, hexadecimal (0x) or octal (0), times may end in ns, us, ms or s. Keywords
// and properties are known in any case. Fault: says what is wrong, and where.
Result<Expression> parse_expression(const std::string& text);

}  // namespace gnomon::reader
