// An experiment that gnomon-sampler writes alone, as no collector is in the process. In
// gnomon-sampler.
#include "libcollector/sampler/alone.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "libcollector/format/names.h"
#include "libcollector/format/overview.h"
#include "libcollector/format/tracers.h"
#include "libcollector/record/experiment.h"
#include "libcollector/record/header.h"

namespace gnomon::sampler {
namespace {

using collector::Recorder;

template <std::size_t N>
bool copy(const std::string& from, char (&to)[N]) {
  if (from.size() >= N) return false;
  std::memcpy(to, from.c_str(), from.size() + 1);
  return true;
}

// What only a collector in the process could record.
void leave_out_traces(format::SettingValues& values) {
  for (const format::TracerRow& tracer : format::kTracers)
    if (tracer.needs_collector) values[tracer.setting] = 0;
}

bool fill(collector::Settings& settings, const Alone& alone, pid_t pid) {
  settings.seen_pid = static_cast<std::uint32_t>(pid);
  const ssize_t length =
      readlink("/proc/self/ns/pid", settings.seen_namespace, sizeof settings.seen_namespace - 1);
  return length > 0 && copy(alone.stem, settings.stem) &&
         copy(alone.executable, settings.executable);
}

// Readers want the file, though no load object may come to stand in it.
bool make_map(const collector::ExperimentDirectory& directory) {
  const int file = directory.open_file(format::kMapFile, O_WRONLY | O_CREAT);
  if (file >= 0) close(file);
  return file >= 0;
}

}  // namespace

Recorder* make_experiment(const Alone& alone, std::uint64_t session,
                          const format::SettingValues& values, pid_t pid, std::uint32_t own_number,
                          std::string& fault) {
  static collector::Settings settings;
  static std::array<char, 64UL * 1024> scratch;
  settings.session = session;
  settings.values = values;
  leave_out_traces(settings.values);
  if (!fill(settings, alone, pid)) {
    fault = "the experiment's path is too long";
    return nullptr;
  }
  int error = 0;
  Recorder* recorder = collector::open_experiment(settings, own_number, error);
  if (!recorder) {
    fault = alone.stem + ".N.er cannot be written: " + std::strerror(error);
    return nullptr;
  }
  std::vector<char*> words;
  for (const std::string& word : alone.words) words.push_back(const_cast<char*>(word.c_str()));
  const std::string process = "/proc/" + std::to_string(pid);
  const collector::FileError unwritten =
      collector::write_header(*recorder, settings,
                              {process.c_str(), own_number, static_cast<int>(words.size()),
                               words.data(), format::kTaskClockEvent, alone.why.c_str()},
                              scratch.data(), scratch.size());
  if (!unwritten && make_map(recorder->directory())) return recorder;
  fault = alone.stem + ".N.er cannot be written: " + std::strerror(unwritten.error);
  remove_experiment(*recorder);
  return nullptr;
}

void remove_experiment(Recorder& made) {
  for (const char* name : {format::kStacksFile, format::kLanesFile, format::kOverviewFile,
                           format::kLogFile, format::kMapFile, format::kNotesFile})
    made.directory().remove_file(name);
  collector::remove_experiment(made);
}

}  // namespace gnomon::sampler
