// What a command needs of the place it runs in: LLDB, or the gnomon program. LLDB's command thread,
// or the program's only one.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/host/blocked.h"
#include "commands/host/collect_settings.h"
#include "commands/host/format.h"
#include "commands/host/selection.h"
#include "commands/host/words.h"
#include "reader/analysis/analysis_cache.h"
#include "reader/analysis/span.h"
#include "reader/analysis/view.h"
#include "reader/base/interrupt.h"
#include "reader/base/one_line.h"
#include "reader/base/result.h"
#include "reader/lines/disassembler.h"
#include "reader/report/asked/index_object.h"
#include "reader/report/base/compare.h"
#include "reader/report/stop/backtrace.h"
#include "reader/table/table.h"

namespace gnomon::commands {

// What `watch` and `calls` are told. size: bytes; 0: as many as the object has. takes_all: also
// the last of the processor's breakpoint registers.
struct WatchRequest {
  std::string expression;
  bool is_call = false, has_reads = false, takes_all = false;
  std::uint64_t size = 0, interval = 1;
};

class NotesSaid;

class Host {
 public:
  virtual ~Host() = default;
  // Control of recording, which only a debugger has. Each answers with a sentence for the user.
  virtual Result<std::string> enable() { return only_in_lldb(); }
  virtual Result<std::string> disable() { return only_in_lldb(); }
  // Brings the collector into a running process, and the debugger after it.
  virtual Result<std::string> attach(std::int32_t /*pid*/) { return only_in_lldb(); }
  // The processes that this user may look at whose program is called so, in ascending order.
  virtual Result<std::vector<std::int32_t>> processes_named(const std::string& /*name*/) {
    return only_in_lldb();
  }
  // Has a sample taken of the process that is being recorded.
  virtual Result<std::string> record_sample(const std::string& /*label*/) { return only_in_lldb(); }
  // Has no events of it recorded until `resume`.
  virtual Result<std::string> pause() { return only_in_lldb(); }
  virtual Result<std::string> resume() { return only_in_lldb(); }
  // Has no more allocations recorded, but what gives them back.
  virtual Result<std::string> trace_frees_only() { return only_in_lldb(); }
  // Notes that the debugger stopped the program for its user. Returns what to print; may be empty.
  virtual Result<std::string> note_stop() { return only_in_lldb(); }
  // Whether that is a line about the time since the program ran on.
  virtual Result<bool> has_stop_line() { return only_in_lldb(); }
  virtual Result<void> set_stop_line(bool /*is_on*/) { return only_in_lldb(); }
  // The line of the last stop; empty: there was none.
  virtual std::string last_stop_line() { return ""; }
  // Of recordings to come. Fault of set_settings: something is recorded now, or nothing could be
  // recorded with them; they stay as they were.
  virtual Result<CollectSettings> settings() { return only_in_lldb(); }
  virtual Result<void> set_settings(const CollectSettings& /*settings*/) { return only_in_lldb(); }

  // What can be counted here, as a text; and the text of format/counters.h for words that name
  // such counters.
  virtual Result<std::string> list_counters() { return only_in_lldb(); }
  virtual Result<std::string> resolve_counters(const std::vector<std::string>& /*words*/) {
    return only_in_lldb();
  }
  // Watches who touches the object, or calls the function, that an expression names.
  virtual Result<std::string> watch(const WatchRequest& /*request*/) { return only_in_lldb(); }
  virtual Result<std::string> unwatch(std::uint32_t /*number*/) { return only_in_lldb(); }

  // Directory of the experiment that a report without an argument is about.
  virtual Result<std::string> experiment() = 0;
  // Likewise all that such a report is about; a name may be a group's.
  virtual Result<std::vector<std::string>> experiments() {
    auto one = experiment();
    if (!one) return tl::unexpected(one.error());
    return std::vector{std::move(*one)};
  }
  // Symbol of the function, mangled or not, that a report is about when none is named.
  virtual Result<std::string> function() = 0;
  // What the threads of the stopped process wait for.
  virtual Result<Blocked> blocked() { return no_stop(); }
  // The call stack of the selected thread.
  virtual Result<reader::Backtrace> backtrace() { return no_stop(); }
  // The value of an expression that is an address: of the selected frame, or a number.
  virtual Result<std::uint64_t> address_of(const std::string& expression) {
    if (const auto address = address_in(expression)) return *address;
    return fault(one_line(expression) + " is not an address",
                 "0x7f00 and 32512 are; in the debugger expressions are, too");
  }
  // Sets a breakpoint at a function of a load object. Answers with a sentence.
  virtual Result<std::string> set_breakpoint(const reader::Function& /*function*/) {
    return fault("only a debugger can set a breakpoint",
                 "`collector functions --break N` does so in LLDB");
  }
  // Rows of a report when nothing is said; 0: all.
  virtual std::size_t default_limit() const = 0;
  // Of text, when nothing is said.
  virtual reader::TextStyle style() const = 0;
  // What the process of an experiment is doing.
  virtual reader::Progress progress(const reader::Experiment& experiment) {
    return reader::progress_of(experiment);
  }
  // Whether it is plain to the user which experiment a report without an argument is about.
  virtual bool is_obvious(const reader::Experiment& /*experiment*/) { return true; }
  // Files of symbols that the user has named.
  virtual reader::DebugFiles debug_files() { return {}; }
  // Where the debugger's user has said that sources are: beginnings of paths, and what stands for
  // them.
  virtual std::vector<std::pair<std::string, std::string>> source_maps() { return {}; }
  // What decodes instructions; valid until the next call.
  virtual Result<reader::Disassembler*> disassembler() {
    return fault("nothing here decodes instructions");
  }
  // The notes that need not be said again; null: each report says all of its own.
  virtual NotesSaid* notes_said() { return nullptr; }
  // Reports are written to that file from now on; "-": to where they were at first.
  virtual Result<void> redirect(const std::string& /*path*/, bool /*appends*/) {
    return only_in_print();
  }
  // Reports without an argument are about that experiment, or group, alone from now on; about that
  // one as well; no longer about that one.
  virtual Result<void> open_experiment(const std::string& /*name*/) { return only_in_print(); }
  virtual Result<void> add_experiment(const std::string& /*name*/) { return only_in_print(); }
  virtual Result<void> drop_experiment(const std::string& /*name*/) { return only_in_print(); }
  // Runs the commands of a file.
  virtual Result<void> run_script(const std::string& /*path*/) { return only_in_print(); }
  // Ends the session.
  virtual Result<void> quit() { return only_in_print(); }
  // Takes a report's text as it comes; empty: the answer keeps it.
  virtual reader::Put printer() { return {}; }
  // Whether the user wants long work to end.
  virtual Interrupt interrupt() const = 0;
  // What `status` says besides the experiment; empty: nothing.
  virtual std::string state() = 0;

  // What reports show unless an option says otherwise.
  struct Choice {
    reader::View view;  // without limit and interrupt
    std::optional<std::size_t> limit;
    Format format = Format::text;
    char delimiter = ',';  // between the cells of CSV
    reader::Comparison comparison = reader::Comparison::off;
    Selection selection;
    std::vector<reader::IndexObject> index_objects;  // that the user has defined
    reader::Expansions expansions;
  };
  Choice& choice() { return choice_; }
  // The experiments, or a span of them, up to date; valid until the next call. They stay open
  // between commands.
  Result<reader::Analysis*> analysis(const std::vector<std::string>& directories,
                                     const reader::EventChoice& events) {
    reader::AnalysisCache& cache = cache_of(directories);
    cache.use_debug_files(debug_files());
    cache.use_expansions(choice_.expansions);
    return cache.get(
        directories, events, [this](const auto& experiment) { return progress(experiment); },
        interrupt());
  }
  // Of the report that was made last; empty: none was made.
  std::vector<std::string> function_names() const {
    return analyses_.empty() ? std::vector<std::string>() : analyses_.front().function_names();
  }

 private:
  static tl::unexpected<Fault> no_stop() {
    return fault("no program is stopped here",
                 "in LLDB, `collector where` and `collector lines "
                 "--here` are about the place where it is");
  }
  static tl::unexpected<Fault> only_in_print() {
    return fault("only `gnomon print` can do that", "`gnomon help print` says more");
  }
  static tl::unexpected<Fault> only_in_lldb() {
    return fault("only a debugger can do that",
                 "in LLDB type `collector enable` or `collector attach PID`; `gnomon collect -P "
                 "PID` records a process");
  }

  // Experiments that are compared are asked for in turn.
  reader::AnalysisCache& cache_of(const std::vector<std::string>& directories) {
    constexpr std::size_t kMost = 8;
    const auto at = std::find_if(analyses_.begin(), analyses_.end(), [&](const auto& each) {
      return each.directories() == directories;
    });
    if (at != analyses_.end()) {
      analyses_.splice(analyses_.begin(), analyses_, at);
      return analyses_.front();
    }
    if (analyses_.size() == kMost) analyses_.pop_back();
    return analyses_.emplace_front();
  }

  Choice choice_;
  std::list<reader::AnalysisCache> analyses_;  // that was asked for last: the first
};

}  // namespace gnomon::commands
