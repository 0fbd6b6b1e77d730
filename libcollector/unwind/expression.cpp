// DWARF expressions, evaluated with every register but rip unknown (DWARF 5, 2.5). Any context.
#include "libcollector/unwind/expression.h"

#include "libcollector/unwind/dwarf_operations.h"

namespace gnomon::collector {
namespace {

constexpr unsigned kDepth = 8;

bool is_constant(const Term& term) { return term.reg == kNoRegister; }

std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// `a` becomes `a operation b`.
bool combine(std::uint8_t operation, Term& a, const Term& b) {
  if (operation == kPlus && (is_constant(a) || is_constant(b))) {
    Term sum = is_constant(a) ? b : a;
    sum.addend = wrapping_sum(a.addend, b.addend);
    a = sum;
    return true;
  }
  if (!is_constant(b)) return false;
  if (operation == kMinus) {
    a.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.addend) -
                                         static_cast<std::uint64_t>(b.addend));
    return true;
  }
  return is_constant(a) && on_two(operation, a.addend, b.addend, a.addend);
}

bool dereference(Term& term) {
  if (is_constant(term) || term.deref) return false;
  term = {term.reg, true, term.addend, 0};
  return true;
}

bool push_register(std::uint8_t operation, ByteReader& reader, std::uint64_t pc, Term& term) {
  if (operation < kBreg0 || operation > kBreg16) return false;
  const std::int64_t offset = reader.sleb();
  term = operation == kBreg16
             ? Term{kNoRegister, false, 0, wrapping_sum(static_cast<std::int64_t>(pc), offset)}
             : Term{static_cast<DwarfRegister>(operation - kBreg0), false, 0, offset};
  return true;
}

}  // namespace

bool reduce(ByteRange expression, std::uint64_t pc, Term& result) {
  Term stack[kDepth];
  unsigned depth = 0;
  for (ByteReader reader(expression); !reader.done();) {
    const auto operation = reader.read<std::uint8_t>();
    Term pushed;
    if (constant(operation, reader, pushed.addend) ||
        push_register(operation, reader, pc, pushed)) {
      if (!reader.ok() || depth == kDepth) return false;
      stack[depth++] = pushed;
    } else if (operation == kDeref) {
      if (depth == 0 || !dereference(stack[depth - 1])) return false;
    } else if (operation == kPlusUconst) {
      if (depth == 0) return false;
      Term& top = stack[depth - 1];
      top.addend = wrapping_sum(top.addend, static_cast<std::int64_t>(reader.uleb()));
    } else {
      if (depth < 2 || !combine(operation, stack[depth - 2], stack[depth - 1])) return false;
      --depth;
    }
    if (!reader.ok()) return false;
  }
  if (depth != 1) return false;
  result = stack[0];
  // Without a bracket offset and addend are one number.
  if (!result.deref && !is_constant(result)) {
    result.offset = result.addend;
    result.addend = 0;
  }
  return true;
}

}  // namespace gnomon::collector
