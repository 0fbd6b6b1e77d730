// Rule maker: a row of the call frame table, put into the few forms a rule has. Any context; takes
// no lock.
#include "libcollector/unwind/rule_maker.h"

#include "libcollector/unwind/expression.h"

namespace gnomon::collector {
namespace {

constexpr std::uint32_t kFpFarthest = kFpAtFp - 1;

bool is_saved_at(const Place& place, std::uint64_t pc, std::uint32_t saved_index) {
  Term term;
  return place.kind == Place::at_expression && reduce(place.expression, pc, term) &&
         term.reg == kRsp && !term.deref && term.offset == kSavedOffset + 8l * saved_index;
}

// The kernel's own layout: there all registers are where registers.h says.
Rule signal_rule(const Row& row, std::uint64_t pc) {
  const bool kernels =
      is_saved_at(row.return_address, pc, kSavedRip) && is_saved_at(row.fp, pc, kSavedRbp);
  return {kernels ? RuleKind::signal_frame : RuleKind::evaluated};
}

// Returns false if the place has another form.
bool fp_rule(const Place& place, std::uint64_t pc, std::uint32_t& fp) {
  fp = 0;
  if (place.kind == Place::same) return true;
  fp = kFpLost;
  if (place.kind == Place::undefined) return true;
  fp = static_cast<std::uint32_t>(-place.offset / 8);
  if (place.kind == Place::at_cfa && place.offset < 0 && place.offset % 8 == 0 &&
      -place.offset / 8 <= kFpFarthest)
    return true;
  fp = kFpAtFp;
  Term term;
  return place.kind == Place::at_expression && reduce(place.expression, pc, term) &&
         term.reg == kRbp && !term.deref && term.offset == 0;
}

Rule cfa_rule(const Row& row, std::uint64_t pc) {
  Term cfa;
  if (row.cfa_register != kNoRegister)
    cfa = {row.cfa_register, false, row.cfa_offset, 0};
  else if (!reduce(row.cfa_expression, pc, cfa))
    return {RuleKind::evaluated};
  Rule rule{RuleKind::evaluated, cfa.reg, cfa.offset, cfa.addend};
  if (cfa.deref && cfa.reg == kRsp) rule.kind = RuleKind::deref_sp;
  if (cfa.deref && cfa.reg == kRbp) rule.kind = RuleKind::deref_fp;
  if (!cfa.deref && cfa.reg < kReturnAddress)
    rule.kind = cfa.reg == kRsp   ? RuleKind::from_sp
                : cfa.reg == kRbp ? RuleKind::from_fp
                                  : RuleKind::from_register;
  return rule;
}

Rule rule_of(const FrameDescription& frame, const Row& row, std::uint64_t pc) {
  if (frame.signal_frame) return signal_rule(row, pc);
  if (row.return_address.kind == Place::undefined) return {RuleKind::outermost};
  Rule rule = cfa_rule(row, pc);
  if (frame.return_register != kReturnAddress || row.stack_pointer.kind != Place::same ||
      !fp_rule(row.fp, pc, rule.fp))
    return {RuleKind::evaluated};
  if (row.return_address.kind == Place::in_register && rule.kind == RuleKind::from_sp)
    return {RuleKind::return_in_reg, row.return_address.reg, rule.offset, 0, rule.fp};
  if (row.return_address.kind != Place::at_cfa || row.return_address.offset != -8)
    return {RuleKind::evaluated};
  return rule;
}

}  // namespace

PackedRule make_rule(const FrameTable& table, std::uint64_t pc) {
  pc += table.shift;
  FrameDescription frame;
  const Found found = find_frame(table, pc, frame);
  if (found == Found::no) return pack({RuleKind::none});
  Row row;
  if (found == Found::damaged || !row_at(frame, pc, kNoRegister, row))
    return pack({RuleKind::damaged});
  return pack(rule_of(frame, row, pc));
}

bool find_row(const FrameTable& table, std::uint64_t pc, DwarfRegister extra, Row& row) {
  pc += table.shift;
  FrameDescription frame;
  return find_frame(table, pc, frame) == Found::yes && row_at(frame, pc, extra, row);
}

}  // namespace gnomon::collector
