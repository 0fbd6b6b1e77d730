// Annotated disassembly: the instructions of a function or of a file's functions, with metrics and
// source. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "reader/report/asked/asked.h"
#include "reader/report/asked/chosen_function.h"
#include "reader/report/asked/listing.h"
#include "reader/report/asked/report.h"
#include "reader/symbols/display_name.h"

namespace gnomon::reader {
namespace {

// "0x1010" as a whole; none: it is something else.
std::optional<std::uint64_t> address_in(std::string_view word) {
  std::uint64_t value = 0;
  if (!word.starts_with("0x")) return std::nullopt;
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data() + 2, end, value, 16);
  return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}

bool is_branch(std::string_view mnemonic) {
  return mnemonic.starts_with('j') || mnemonic.starts_with("call") || mnemonic.starts_with("loop");
}

// What a jump or call through "*0x2fd2(%rip)", "qword ptr [rip + 0x2fd2]" reads its target from;
// none: that is not known.
std::optional<std::uint64_t> slot_of(const Instruction& instruction) {
  const std::string& operands = instruction.operands;
  const auto number = operands.find("0x");
  if (operands.find("rip") == std::string::npos || number == std::string::npos) return std::nullopt;
  const auto end = operands.find_first_not_of("0123456789abcdefABCDEF", number + 2);
  const auto distance = address_in(std::string_view(operands).substr(number, end - number));
  if (!distance) return std::nullopt;
  const auto sign = operands.find('-');
  const std::uint64_t next = instruction.address + instruction.bytes;
  return sign < number ? next - *distance : next + *distance;
}

class Disassembly {
 public:
  // pc: of the selected frame of the process that has stopped.
  Disassembly(Analysis& analysis, const PlaceItems& items, const Asked& asked, const View& view,
              Disassembler& disassembler, std::optional<std::uint64_t> pc)
      : analysis_(analysis),
        places_(analysis.code()),
        profile_(*asked.profile),
        view_(view),
        disassembler_(disassembler),
        texts_(places_, view.sources),
        listing_(items, asked.shown.metrics, view.disassembly_threshold,
                 {{"line", {}, false, Type::count}, {"address", {}, false, Type::address}}) {
    for (std::uint32_t item = 0; item < items.size(); ++item)
      if (const auto address = items.address(item))
        items_[{items.function(item).file, *address}] = item;
    if (!pc) return;
    here_ = analysis.address_space().locate(*pc, analysis.newest_epoch());
    if (here_) load_bias_ = *pc - here_->address;
  }

  // Reads the instructions of a function. To be called of all before `list`.
  Result<void> read(FunctionId id) {
    const Function& function = profile_.function(id);
    if (function.object.empty())
      return fault(profile_.name(id) + " is no function of a file", "`pcs` lists instructions");
    if (function.is_inlined)
      return fault(profile_.name(id) + " is inlined wherever it was met",
                   "`callers-callees` shows into what; disassemble that");
    const std::uint64_t end = analysis_.end_of(function);
    const auto code =
        places_.code(function.file, view_.interrupt).at(function.address, end - function.address);
    if (code.empty())
      return fault(
          fmt::format("the code of {} cannot be read from {}", profile_.name(id), function.object));
    Part part{id, {}};
    for (std::size_t at = 0; at < code.size();) {
      auto decoded = disassembler_.decode(code.subspan(at), function.address + at);
      if (!decoded) return tl::unexpected(decoded.error());
      for (Instruction& each : *decoded) {
        at += each.bytes;
        part.instructions.push_back(std::move(each));
      }
      if (at >= code.size()) break;
      part.instructions.push_back(
          {function.address + at, 1, ".byte", fmt::format("{:#04x}", code[at])});
      ++at;
    }
    for (const Instruction& each : part.instructions) listing_.regard(items_of(function, each));
    parts_.push_back(std::move(part));
    return {};
  }

  Result<Table> list(SourceFileId file) {
    if (file == SourceFileId::none && !parts_.empty()) {
      file = places_.begin_of(parts_.front().function, view_.interrupt).file;
    }
    if (file != SourceFileId::none) listing_.table.title = texts_.title(file) + "\n";
    if (!parts_.empty()) {
      const std::string& object = profile_.function(parts_.front().function).object;
      listing_.table.title += "Load object: " + object;
      if (file != SourceFileId::none) listing_.table.notes = texts_.notes(file, object);
    }
    for (const Part& part : parts_)
      if (!add(part)) return interrupted();
    return std::move(listing_.table);
  }

 private:
  struct Part {
    FunctionId function;
    std::vector<Instruction> instructions;
  };

  // Those that lie within the instruction.
  std::vector<std::uint32_t> items_of(const Function& function, const Instruction& of) const {
    std::vector<std::uint32_t> found;
    for (auto at = items_.lower_bound({function.file, of.address});
         at != items_.end() && at->first < std::pair(function.file, of.address + of.bytes); ++at)
      found.push_back(at->second);
    return found;
  }

  // Returns false if the user interrupted.
  bool add(const Part& part) {
    const Function& function = profile_.function(part.function);
    if (!listing_.table.rows.empty()) listing_.table.groups.push_back(listing_.table.rows.size());
    listing_.add_text({kIndent, fmt::format("<Function: {}>", profile_.name(part.function))});
    const bool is_object_here = here_ && here_->file == function.file;
    SourcePlace last;
    for (const Instruction& each : part.instructions) {
      if (view_.interrupt.asked(listing_.table.rows.size())) return false;
      const SourcePlace source = places_.source({function.file, each.address}, view_.interrupt);
      if (source != last && source.is_known()) add_source(source);
      last = source;
      const std::string line = source.is_known() ? std::to_string(source.line) : "?";
      Row hidden{source.is_known() ? Cell(std::uint64_t{source.line}) : Cell(Empty{}),
                 Address{each.address}};
      const bool is_here = is_object_here && here_->address - each.address < each.bytes;
      listing_.add(
          items_of(function, each), std::move(hidden),
          {fmt::format("{}[{:>4}] {:>8x}:  ", is_here ? "->  " : kIndent, line,
                       each.address + (is_object_here ? load_bias_ : 0)),
           fmt::format("{:<7} {}{}", each.mnemonic, each.operands, target_text(function, each))});
    }
    return true;
  }

  void add_source(const SourcePlace& source) {
    if (texts_.found(source.file).empty()) return;
    listing_.add_text({fmt::format("{:>4}. ", source.line), texts_.line(source.file, source.line)},
                      {std::uint64_t{source.line}});
  }

  // " <memcpy@plt>", " <+0x10>" within the function; empty: the instruction leads nowhere that is
  // known.
  std::string target_text(const Function& own, const Instruction& of) {
    if (!is_branch(of.mnemonic)) return "";
    auto target = address_in(of.operands);
    if (const auto slot = target ? std::nullopt : slot_of(of)) {
      const SlotTarget* const leads = places_.slot({own.file, *slot}, view_.interrupt);
      if (!leads) return "";
      if (!leads->name.empty()) return fmt::format(" <{}>", display_name(leads->name.c_str()));
      target = leads->address;
    }
    if (!target) return "";
    if (*target >= own.address && *target < analysis_.end_of(own))
      return fmt::format(" <+{:#x}>", *target - own.address);
    const Function& other = analysis_.function_in({own.file, *target});
    return other.address == *target
               ? fmt::format(" <{}>", other.name)
               : fmt::format(" <{}+{:#x}>", other.name, *target - other.address);
  }

  static constexpr const char* kIndent = "    ";

  Analysis& analysis_;
  Places& places_;
  const Profile& profile_;
  const View& view_;
  Disassembler& disassembler_;
  SourceTexts texts_;
  Listing listing_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint32_t> items_;  // by file and address
  std::optional<Location> here_;  // where the process has stopped
  std::uint64_t load_bias_ = 0;   // of the load object that this is in
  std::vector<Part> parts_;
};

}  // namespace

Result<Table> disasm_report(Analysis& analysis, const View& view, const FunctionChoice& choice,
                            Disassembler& disassembler, std::optional<std::uint64_t> pc) {
  const auto found = ask_places(analysis, view, Grain::instruction);
  if (!found) return tl::unexpected(found.error());
  const auto& [asked, items] = *found;
  const auto code = chosen_code(choice, asked, analysis.code());
  if (!code) return tl::unexpected(code.error());
  Disassembly disassembly(analysis, items, asked, view, disassembler, pc);
  std::vector<FunctionId> functions;
  if (code->function) {
    functions.push_back(*code->function);
  } else {
    for (const auto& [line, begun] :
         functions_of(code->file, *asked.profile, analysis.code(), view.interrupt))
      for (const FunctionId id : begun)
        if (!asked.profile->function(id).is_inlined) functions.push_back(id);
  }
  for (const FunctionId id : functions)
    if (auto done = disassembly.read(id); !done) return tl::unexpected(done.error());
  return with_losses(disassembly.list(code->file), analysis, asked);
}

}  // namespace gnomon::reader
