// A debugger's session: what is recorded, how and where. LLDB's command thread; `note_stop`: the
// thread that handles the debugger's events.
#pragma once
#include <lldb/API/LLDB.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "commands/base/command.h"
#include "commands/reports/notes_said.h"
#include "commands/stop/stop_line.h"
#include "injector/base/recording.h"
#include "injector/launch/launch.h"
#include "injector/lldb/stops.h"
#include "plugin/disassembler.h"

namespace gnomon::plugin {

class Session : public commands::Host {
 public:
  explicit Session(lldb::SBDebugger debugger) : debugger_(debugger) {}

  Result<std::string> enable() override;
  Result<std::string> disable() override;
  Result<std::string> attach(std::int32_t pid) override;
  Result<std::vector<std::int32_t>> processes_named(const std::string& name) override;
  Result<std::string> experiment() override;
  Result<std::string> function() override;
  std::size_t default_limit() const override { return 40; }
  reader::TextStyle style() const override;
  Interrupt interrupt() const override;
  reader::DebugFiles debug_files() override;
  std::vector<std::pair<std::string, std::string>> source_maps() override;
  Result<reader::Disassembler*> disassembler() override;
  commands::NotesSaid* notes_said() override { return &notes_said_; }
  bool is_obvious(const reader::Experiment& experiment) override;
  std::string state() override;
  reader::Progress progress(const reader::Experiment& experiment) override;
  Result<std::string> record_sample(const std::string& label) override;
  Result<std::string> pause() override;
  Result<std::string> resume() override;
  Result<std::string> trace_frees_only() override;
  Result<std::string> list_counters() override;
  Result<std::string> resolve_counters(const std::vector<std::string>& words) override;
  Result<std::string> watch(const commands::WatchRequest& request) override;
  Result<std::string> unwatch(std::uint32_t number) override;
  Result<std::string> note_stop() override;
  Result<bool> has_stop_line() override { return has_stop_line_.load(); }
  Result<void> set_stop_line(bool is_on) override;
  std::string last_stop_line() override { return stop_line_.last(); }
  Result<commands::Blocked> blocked() override;
  Result<reader::Backtrace> backtrace() override;
  Result<std::uint64_t> address_of(const std::string& expression) override;
  Result<std::string> set_breakpoint(const reader::Function& function) override;
  Result<commands::CollectSettings> settings() override { return settings_; }
  Result<void> set_settings(const commands::CollectSettings& settings) override;

 private:
  // What the next recording is to be done with; a fault: nothing can be recorded from here.
  Result<injector::Settings> next_recording(const commands::CollectSettings& chosen) const;
  // Recordings of these settings are ours from now on.
  void remember(const injector::Settings& settings);
  // Sets whether runs to come begin without events. Returns false: no run is to be
  // recorded, or a process runs already; then nothing is set.
  Result<bool> begin_paused(bool is_wanted);
  Result<std::string> record(lldb::SBProcess process, const injector::Settings& settings);
  // Ends the recording of a process, whoever began it, and gives the process back. Returns what to
  // tell the user; null: it is not recorded.
  std::optional<std::string> end_recording(lldb::SBProcess process);
  std::string give_back(lldb::SBProcess process, std::uint64_t session);
  // Gives a process back whose recording in this session has ended by itself or failed, or has
  // failed in another, which leaves the collector's hooks and handler in it. Returns what to tell
  // the user; null: there is nothing to give back.
  std::optional<std::string> end_rest(lldb::SBProcess process);
  // Our recording of the process. Without a page: there is none.
  injector::Found our_recording(lldb::SBProcess process) const;
  bool is_recorded(lldb::SBProcess process) const { return our_recording(process).page != nullptr; }
  // Where the process is recorded to, whoever began that; a fault: nowhere.
  Result<injector::Found> recording_of(lldb::SBProcess process);
  // Empty: there is none.
  std::string newest_experiment();
  // LLDB is about to run a command that lets the process run on. Returns false: it is to do so.
  static bool hear_command(void* session, const char** words);
  struct Watched {
    std::uint32_t number;
    std::string name;
  };
  std::vector<Watched>& watched_in(const std::string& experiment);
  // Who has the processor's breakpoint registers.
  static std::string holders(lldb::SBTarget target, const std::vector<Watched>& watched);
  // What was begun by another debugger, or by `gnomon collect`; null: nothing.
  const injector::Recording* recorded_by_others(lldb::SBProcess process);

  lldb::SBDebugger debugger_;
  std::optional<injector::Launch> launch_;
  injector::Stops stops_;
  commands::StopLine stop_line_;
  std::atomic<bool> has_stop_line_ = false;
  bool hears_commands_ = false;  // LLDB's commands that let the process run on tell `stop_line_`
  commands::CollectSettings settings_;
  std::vector<std::string>
      stems_;  // of what was recorded, or is to be, in this session; newest first
  std::uint64_t session_ = 0;
  std::string names_;  // of the experiments of later runs, in words
  // The process that has got back what the collector had of it: its unique number, 0: none.
  std::uint32_t given_back_ = 0;
  std::optional<LldbDisassembler> disassembler_;
  commands::NotesSaid notes_said_;
  // Of others, as seen last, and of which process.
  injector::Recording others_;
  lldb::pid_t others_pid_ = 0;
  std::vector<Watched> watched_;  // in that experiment
  std::string watched_experiment_;
};

}  // namespace gnomon::plugin
