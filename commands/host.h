// What a command needs of the place it runs in: LLDB, or the gnomon program. LLDB's command thread,
// or the program's only one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/collect_settings.h"
#include "commands/selection.h"
#include "reader/analysis/analysis.h"
#include "reader/analysis/span.h"
#include "reader/analysis/view.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/lines/disassembler.h"
#include "reader/report/index/index_object.h"
#include "reader/table/table.h"

namespace gnomon::commands {

class Host {
 public:
  virtual ~Host() = default;
  // Control of recording, which only a debugger has. Each answers with a sentence for the user.
  virtual Result<std::string> enable() { return only_in_lldb(); }
  virtual Result<std::string> disable() { return only_in_lldb(); }
  // Brings the collector into a running process, and the debugger after it.
  virtual Result<std::string> attach(std::int32_t /*pid*/) { return only_in_lldb(); }
  // Has a sample taken of the process that is being recorded.
  virtual Result<std::string> record_sample(const std::string& /*label*/) { return only_in_lldb(); }
  // Has no events of it recorded until `resume`.
  virtual Result<std::string> pause() { return only_in_lldb(); }
  virtual Result<std::string> resume() { return only_in_lldb(); }
  // Notes that the debugger stopped the program for its user.
  virtual Result<void> note_stop() { return only_in_lldb(); }
  // Of recordings to come. Fault of set_settings: something is recorded now, or nothing could be
  // recorded with them; they stay as they were.
  virtual Result<CollectSettings> settings() { return only_in_lldb(); }
  virtual Result<void> set_settings(const CollectSettings& /*settings*/) { return only_in_lldb(); }

  // Directory of the experiment that a report without an argument is about.
  virtual Result<std::string> experiment() = 0;
  // Symbol of the function, mangled or not, that a report is about when none is named.
  virtual Result<std::string> function() = 0;
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
    Selection selection;
    std::vector<reader::IndexObject> index_objects;  // that the user has defined
    reader::Expansions expansions;
  };
  Choice& choice() { return choice_; }
  // The experiment, or the span of it, up to date; valid until the next call. It stays open between
  // commands.
  Result<reader::Analysis*> analysis(const std::string& directory,
                                     const reader::EventChoice& events) {
    analyses_.use_debug_files(debug_files());
    analyses_.use_expansions(choice_.expansions);
    return analyses_.get(
        directory, events, [this](const auto& experiment) { return progress(experiment); },
        interrupt());
  }

 private:
  static tl::unexpected<Fault> only_in_lldb() {
    return fault("only a debugger can do that",
                 "in LLDB type `collector enable` or `collector attach PID`; `gnomon collect -P "
                 "PID` records a process");
  }

  Choice choice_;
  reader::AnalysisCache analyses_;
};

}  // namespace gnomon::commands
