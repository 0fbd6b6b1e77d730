// A debugger's session: what is watched by the processor, without a stop. LLDB's command thread.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "injector/base/sampler.h"
#include "plugin/process.h"
#include "plugin/session.h"
#include "reader/base/one_line.h"

namespace gnomon::plugin {
namespace {

constexpr std::uint64_t kWidest = 8;  // bytes that a breakpoint register watches

lldb::SBValue value_of(lldb::SBTarget target, lldb::SBFrame frame, const std::string& expression) {
  lldb::SBExpressionOptions options;
  options.SetAllowJIT(false);  // runs nothing of the program's
  options.SetIgnoreBreakpoints(true);
  options.SetTimeoutInMicroSeconds(1'000'000);
  return frame.IsValid() ? frame.EvaluateExpression(expression.c_str(), options)
                         : target.EvaluateExpression(expression.c_str(), options);
}

// LLDB's message, such as "error: <user expression 0>:1:1: use of ...", without the place and
// without the lines of source below.
std::string words_of(const lldb::SBError& error) {
  std::string text = error.GetCString() ? error.GetCString() : "";
  text.resize(std::min(text.find('\n'), text.size()));
  if (const auto place = text.find("<user expression"); place != std::string::npos)
    if (const auto end = text.find(": ", place); end != std::string::npos) text.erase(0, end + 2);
  return one_line(text);
}

// An object has an address; a pointer that is computed, such as &x, says one, and so does a number.
Result<format::Watch> object_named(lldb::SBTarget target, lldb::SBFrame frame,
                                   const commands::WatchRequest& request) {
  lldb::SBValue shown = value_of(target, frame, request.expression);
  lldb::SBError error = shown.GetError();
  if (error.Fail())
    return fault(
        fmt::format("{} names no object here ({})", one_line(request.expression), words_of(error)),
        "name a variable, a member or *POINTER of the selected frame");
  // LLDB's view of a container's elements has no address, although the container has.
  lldb::SBValue value = shown.GetNonSyntheticValue();
  format::Watch watch;
  watch.name = request.expression;
  watch.is_read = request.has_reads;
  watch.address = value.GetLoadAddress();
  watch.size = value.GetByteSize();
  if (watch.address == LLDB_INVALID_ADDRESS || watch.address == 0) {
    lldb::SBType type = value.GetType();
    watch.address = value.GetValueAsUnsigned(error, 0);
    watch.size = type.IsPointerType() ? type.GetPointeeType().GetByteSize() : kWidest;
  }
  if (watch.address == 0 || error.Fail())
    return fault(fmt::format("{} has no address: it is in a register, or no object",
                             one_line(request.expression)),
                 "name an object in memory, or give its address as a number");
  return watch;
}

Result<format::Watch> checked(format::Watch watch, std::uint64_t size) {
  const std::uint64_t whole = watch.size;
  if (size != 0) watch.size = size;
  const bool fits = watch.size == 1 || watch.size == 2 || watch.size == 4 || watch.size == 8;
  if (!fits)
    return fault(fmt::format("{} has {} bytes, and the processor watches 1, 2, 4 or 8",
                             one_line(watch.name), whole),
                 "name a member, or give --size 8 for its first 8 bytes");
  if (watch.address % watch.size != 0)
    return fault(fmt::format("the {} bytes at {:#x} do not begin at a multiple of {}, as the "
                             "processor needs",
                             watch.size, watch.address, watch.size),
                 "a smaller --size can be watched");
  return watch;
}

struct Beginning {
  std::uint64_t address;
  std::string module;
  bool is_of_program;  // else of a library
};

// Where the functions of that name begin. is_chosen: set to true if the name is that of variants
// among which one is chosen when the program starts, which has no code of its own.
std::vector<Beginning> beginnings_of(lldb::SBTarget target, const std::string& name,
                                     bool& is_chosen) {
  const lldb::SBFileSpec program = target.GetExecutable();
  lldb::SBSymbolContextList found = target.FindFunctions(name.c_str());
  std::vector<Beginning> all;
  for (std::uint32_t i = 0; i < found.GetSize(); ++i) {
    lldb::SBSymbolContext context = found.GetContextAtIndex(i);
    lldb::SBFunction function = context.GetFunction();
    lldb::SBSymbol symbol = context.GetSymbol();
    is_chosen |= symbol.IsValid() && symbol.GetType() == lldb::eSymbolTypeResolver;
    if (symbol.IsValid() && symbol.GetType() == lldb::eSymbolTypeResolver) continue;
    const std::uint64_t at =
        (function.IsValid() ? function.GetStartAddress() : symbol.GetStartAddress())
            .GetLoadAddress(target);
    const bool is_new = std::none_of(all.begin(), all.end(),
                                     [&](const Beginning& each) { return each.address == at; });
    const lldb::SBFileSpec module = context.GetModule().GetFileSpec();
    const char* const file = module.GetFilename();
    if (at != LLDB_INVALID_ADDRESS && at != 0 && is_new)
      all.push_back({at, file ? file : "", module == program});
  }
  return all;
}

// Of several the program's own is meant, if there is one.
Result<std::uint64_t> function_named(lldb::SBTarget target, const std::string& name) {
  if (name.starts_with("0x"))
    if (const auto address = commands::address_in(name)) return *address;
  bool is_chosen = false;
  std::vector<Beginning> all = beginnings_of(target, name, is_chosen);
  const auto is_of_library = [](const Beginning& each) { return !each.is_of_program; };
  const bool has_own = !std::all_of(all.begin(), all.end(), is_of_library);
  if (has_own) std::erase_if(all, is_of_library);
  if (is_chosen && !has_own)
    return fault(
        fmt::format("{} is chosen among variants when the program starts", name),
        fmt::format("`image lookup -r -s {}` lists them: name the one that is called", name));
  if (all.size() == 1) return all.front().address;
  if (all.empty())
    return fault(fmt::format("no function that is loaded is called {}", one_line(name)),
                 "`image lookup -r -n NAME` searches; a function that is inlined has no calls");
  std::string list;
  for (const Beginning& each : all)
    list += fmt::format("{}{:#x} in {}", list.empty() ? "" : ", ", each.address, each.module);
  return fault(fmt::format("{} functions are called {}", all.size(), one_line(name)),
               "give the address of one of them: " + list);
}

std::uint32_t watchpoints_of(lldb::SBTarget target) {
  std::uint32_t enabled = 0;
  for (std::uint32_t i = 0; i < target.GetNumWatchpoints(); ++i)
    enabled += target.GetWatchpointAtIndex(i).IsEnabled() ? 1 : 0;
  return enabled;
}

// Returns true if a jump of the function's own leads to its first instruction.
bool begins_with_loop(lldb::SBTarget target, std::uint64_t address) {
  lldb::SBAddress at = target.ResolveLoadAddress(address);
  lldb::SBFunction function = at.GetFunction();
  lldb::SBSymbol symbol = at.GetSymbol();
  if (!function.IsValid() && !symbol.IsValid()) return false;
  lldb::SBInstructionList all =
      function.IsValid() ? function.GetInstructions(target) : symbol.GetInstructions(target);
  for (std::size_t i = 0; i < all.GetSize(); ++i) {
    lldb::SBInstruction each = all.GetInstructionAtIndex(static_cast<std::uint32_t>(i));
    const char* const mnemonic = each.DoesBranch() ? each.GetMnemonic(target) : nullptr;
    if (!mnemonic || (*mnemonic != 'j' && *mnemonic != 'l')) continue;  // no call
    const char* const to = each.GetOperands(target);
    if (to && commands::address_in(to) == address) return true;
  }
  return false;
}

// Returns true if the place is in use on the stack of the thread.
bool is_on_stack(lldb::SBProcess process, lldb::SBThread thread, std::uint64_t address) {
  const std::uint64_t sp = thread.GetFrameAtIndex(0).GetSP();
  lldb::SBMemoryRegionInfo region;
  return process.GetMemoryRegionInfo(sp, region).Success() && address >= sp &&
         address < region.GetRegionEnd();
}

// What the user has to know of the hits of a watch that has begun, each sentence after a blank.
std::string warnings(lldb::SBTarget target, const format::Watch& watch,
                     const format::WatchBegun& begun) {
  constexpr double kMicrosecond = 1000;
  std::string text;
  const double sampled = static_cast<double>(begun.sampled) / kMicrosecond;
  const double counted = static_cast<double>(begun.counted) / kMicrosecond;
  if (begun.sampled != 0)
    text += fmt::format(
        " Each holds its thread for {:.1f} us{}.", sampled,
        counted < sampled ? fmt::format(", or {:.1f} us if --period N records few", counted) : "");
  lldb::SBThread thread = target.GetProcess().GetSelectedThread();
  if (watch.is_call && begins_with_loop(target, watch.address))
    text += fmt::format(
        " A loop begins at the function's first instruction: each of its rounds counts as a call.");
  if (!watch.is_call && is_on_stack(target.GetProcess(), thread, watch.address))
    text += fmt::format(
        " It lies on the stack of thread {}: when its function has returned, others write "
        "there; `collector unwatch {}` ends the watch.",
        thread.GetIndexID(), begun.number);
  return text;
}

}  // namespace

// What this session watches in the recording; those of another recording have ended with it.
std::vector<Session::Watched>& Session::watched_in(const std::string& experiment) {
  if (watched_experiment_ != experiment) watched_.clear();
  watched_experiment_ = experiment;
  return watched_;
}

std::string Session::holders(lldb::SBTarget target, const std::vector<Watched>& watched) {
  std::string ours;
  for (const Watched& each : watched)
    ours += fmt::format("{}{} {}", ours.empty() ? "" : ", ", each.number, one_line(each.name));
  return fmt::format("LLDB has {} for its watchpoints, Gnomon {}{}", watchpoints_of(target),
                     watched.size(), ours.empty() ? "" : " (" + ours + ")");
}

Result<std::string> Session::watch(const commands::WatchRequest& request) {
  constexpr std::size_t kOurs = 2;  // LLDB's watchpoints need the others
  lldb::SBTarget target = debugger_.GetSelectedTarget();
  lldb::SBProcess process = target.GetProcess();
  auto recording = recording_of(process);
  if (!recording) return tl::unexpected(recording.error());
  if (process.GetState() != lldb::eStateStopped)
    return fault("the process runs, so that nothing can be looked up in it",
                 "`process interrupt` stops it");
  Result<format::Watch> watch = format::Watch{};
  if (request.is_call) {
    const auto address = function_named(target, request.expression);
    if (!address) return tl::unexpected(address.error());
    watch->is_call = true;
    watch->address = *address;
    watch->name = request.expression;
  } else {
    watch = object_named(target, process.GetSelectedThread().GetSelectedFrame(), request);
    if (watch) watch = checked(*watch, request.size);
    if (!watch) return tl::unexpected(watch.error());
  }
  watch->interval = request.interval;
  auto& watched = watched_in(recording->experiment);
  if (watched.size() >= kOurs && !request.takes_all)
    return fault(fmt::format("of the processor's four breakpoint registers {}; the others are left "
                             "to LLDB's watchpoints",
                             holders(target, watched)),
                 "`collector unwatch NUMBER` gives one back, --all-slots takes one more");
  const auto begun = injector::ask_to_watch(*recording->page, *watch);
  if (!begun && begun.error().what != format::kNoRegisterLeft)
    return fault(fmt::format("{} cannot be watched: {}", one_line(watch->name), begun.error().what),
                 begun.error().next);
  if (!begun)
    return fault(fmt::format("{} cannot be watched: {}; {}", one_line(watch->name),
                             begun.error().what, holders(target, watched)),
                 "`watchpoint delete` and `collector unwatch NUMBER` give registers back");
  watched.push_back({begun->number, watch->name});
  const std::string more = warnings(target, *watch, *begun);
  if (watch->is_call)
    return fmt::format(
        "Watch {}: calls of {} at {:#x}.{} `collector calls` shows who makes them.\n",
        begun->number, one_line(watch->name), watch->address, more);
  return fmt::format("Watch {}: {} of {}, {} byte{} at {:#x}.{} `collector accesses` shows them.\n",
                     begun->number, watch->is_read ? "reads and writes" : "writes",
                     one_line(watch->name), watch->size, watch->size == 1 ? "" : "s",
                     watch->address, more);
}

Result<std::string> Session::unwatch(std::uint32_t number) {
  auto recording = recording_of(debugger_.GetSelectedTarget().GetProcess());
  if (!recording) return tl::unexpected(recording.error());
  if (const auto ended = injector::ask_to_unwatch(*recording->page, number); !ended)
    return fault(fmt::format("there is no watch {}: {}", number, ended.error().what),
                 "`collector accesses` and `collector calls` number them");
  auto& watched = watched_in(recording->experiment);
  std::erase_if(watched, [&](const Watched& each) { return each.number == number; });
  return fmt::format("Watch {} has ended; its register is free.\n", number);
}

}  // namespace gnomon::plugin
