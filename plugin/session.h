// A debugger's session: is collecting armed, and where is the experiment. LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>

#include <optional>
#include <string>

#include "commands/command.h"
#include "injector/launch/launch.h"
#include "injector/recording.h"
#include "injector/stops.h"

namespace gnomon::plugin {

class Session : public commands::Host {
 public:
  explicit Session(lldb::SBDebugger debugger) : debugger_(debugger) {}

  Result<std::string> enable() override;
  Result<std::string> disable() override;
  Result<std::string> attach(std::int32_t pid) override;
  Result<std::string> experiment() override;
  Result<std::string> function() override;
  std::size_t default_limit() const override { return 40; }
  reader::TextStyle style() const override;
  Interrupt interrupt() const override;
  std::string state() override;
  reader::Progress progress(const reader::Experiment& experiment) override;
  Result<std::string> record_sample(const std::string& label) override;
  Result<std::string> set_sampling_at_stops(bool is_on) override;
  void note_stop() override;

 private:
  Result<injector::Settings> settings() const;
  Result<std::string> record(lldb::SBProcess process, const injector::Settings& settings);
  // Ends what a process is recorded by. Null: nothing; else what the collector still has of it.
  std::optional<std::string> end_recording(lldb::SBProcess process);
  std::string give_back(lldb::SBProcess process, std::uint64_t session);
  bool is_recorded(lldb::SBProcess process) const;
  // Where the process is recorded to, whoever began that.
  injector::Found recording_of(lldb::SBProcess process);
  // What was begun by another debugger, or by `gnomon collect`; null: nothing.
  const injector::Recording* recorded_by_others(lldb::SBProcess process);

  lldb::SBDebugger debugger_;
  std::optional<injector::Launch> launch_;
  injector::Stops stops_;
  std::string stem_;  // of the last enable
  std::uint64_t session_ = 0;
  // Of others, as seen last, and of which process.
  injector::Recording others_;
  lldb::pid_t others_pid_ = 0;
};

}  // namespace gnomon::plugin
