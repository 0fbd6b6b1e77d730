// An experiment: a directory NAME.er, written by a collector that may still be writing. Any thread.
#include "reader/experiment/experiment.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "libcollector/format/block.h"
#include "libcollector/format/names.h"
#include "reader/base/clock.h"
#include "reader/experiment/json_lines.h"
#include "reader/experiment/json_members.h"
#include "reader/io/file.h"

namespace gnomon::reader {
namespace {

using Json = nlohmann::json;

struct Control {
  format::ControlPage page{};
  bool closed = false;
};

bool is_begun_right(const format::ControlPage& page) {
  const auto state = static_cast<format::State>(page.state);
  const bool has_begun = state == format::State::recording || state == format::State::ended ||
                         (state == format::State::failed && page.start_time != 0);
  return (!has_begun && page.begun == 0) || page.begun == format::begun_check(page);
}

Result<Control> read_control(const std::string& directory) {
  constexpr int kAttempts = 3;  // the closed page may be written while it is read
  const std::string path = directory + "/" + format::kControlFile;
  const auto file = File::open(path);
  if (!file) return tl::unexpected(file.error());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    alignas(8) std::array<std::byte, format::kControlBytes> bytes{};
    const auto read = file->read(0, bytes);
    if (!read) return tl::unexpected(read.error());
    if (*read < bytes.size()) break;
    format::ClosedPage closed{};
    std::memcpy(&closed, bytes.data() + format::kClosedPageOffset, sizeof closed);
    Control control;
    std::memcpy(&control.page, bytes.data(), sizeof control.page);
    control.closed = closed.check != 0;
    if (control.closed) control.page = closed.page;
    if (control.page.magic == format::kControlMagic && control.page.major == format::kFormatMajor &&
        control.page.state <= static_cast<std::uint32_t>(format::kLastState) &&
        is_begun_right(control.page) &&
        (!control.closed || closed.check == format::page_check(closed.page)))
      return control;
  }
  return fault(path + " is damaged", "record again");
}

FileIdentity identity_in(const Json& line) {
  return {field<std::string>(line, "build_id"), field<std::uint64_t>(line, "file_bytes"),
          field<std::uint64_t>(line, "modified"), hex(line, "layout")};
}

// The collector writes a path that is not UTF-8 as `path_bytes`, in hexadecimal digits: JSON has no
// other way to hold its bytes.
std::string path_in(const Json& line) {
  const auto digits = field<std::string>(line, "path_bytes");
  std::string path;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    const char pair[] = {digits[at], digits[at + 1], 0};
    path += static_cast<char>(std::strtoul(pair, nullptr, 16));
  }
  return path.empty() ? field<std::string>(line, "path") : path;
}

// Two lines say that one object was unloaded: the later one counts. Both writers of an experiment
// may have written that it was loaded.
void unload(std::vector<LoadObject>& objects, std::uint64_t begin, std::uint32_t epoch) {
  bool is_latest = true;
  for (auto object = objects.rbegin(); object != objects.rend(); ++object) {
    if (object->begin != begin || object->first_epoch >= epoch) continue;
    if (is_latest || object->end_epoch == LoadObject::kForGood) object->end_epoch = epoch;
    is_latest = false;
  }
}

// The process is over, and gnomon-sampler is about to write the last of its samples.
bool is_being_finished(const Control& control, const Header& header) {
  constexpr std::uint64_t kBeat = 3'000'000'000;  // ns; gnomon-sampler shows itself each second
  const format::ControlPage& page = control.page;
  const std::uint64_t now = monotonic_now();  // a damaged page may have any time
  return !control.closed && page.sampler != 0 && page.sampler_time <= now &&
         now - page.sampler_time < kBeat && (page.end_time != 0 || life_of(header) == Life::over);
}

// Waits 3 s at most until nobody writes any more.
Result<Control> read_finished_control(const std::string& directory, const Header& header) {
  const std::uint64_t limit = monotonic_now() + 3'000'000'000;
  auto control = read_control(directory);
  while (control && is_being_finished(*control, header) && monotonic_now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    control = read_control(directory);
  }
  return control;
}

Result<std::vector<LoadObject>> read_map(const std::string& directory,
                                         const format::ControlPage& control) {
  const std::string path = directory + "/" + format::kMapFile;
  std::vector<LoadObject> objects;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> unloads;
  LineNumbers numbers;
  std::uint32_t lines = 0;
  auto read = each_line(path, control.session, [&](const Json& line) -> Result<void> {
    ++lines;
    if (!numbers.add(line))
      return fault(path + " is damaged: a line has no number or another one's", "record again");
    const auto event = field<std::string>(line, "event");
    const auto epoch = field<std::uint32_t>(line, "epoch");
    const std::uint64_t begin = hex(line, "begin");
    if (event == "load")
      objects.push_back({field<std::uint64_t>(line, "time"), begin, hex(line, "end"),
                         hex(line, "bias"), path_in(line), identity_in(line), epoch});
    if (event == "unload") unloads.push_back({begin, epoch});
    return {};
  });
  // A writer that comes late may say last that an object was loaded.
  for (const auto& [begin, epoch] : unloads) unload(objects, begin, epoch);
  if (!read) return tl::unexpected(read.error());
  if (lines < control.map_lines)
    return fault(path + " is damaged: " + std::to_string(control.map_lines) +
                     " lines were written, " + std::to_string(lines) + " are there",
                 "record again");
  return objects;
}

}  // namespace

bool was_told_to_end(const Experiment& experiment) {
  return experiment.control.asked == static_cast<std::uint32_t>(format::Ask::end);
}

bool has_executed(const Experiment& experiment) {
  return experiment.control.replacing != 0 &&
         (experiment.state() == format::State::recording || !experiment.header.outside.empty());
}

bool is_paused(const Experiment& experiment) {
  return experiment.control.asked == static_cast<std::uint32_t>(format::Ask::pause);
}

bool is_size_limit_reached(const Experiment& experiment) {
  return experiment.control.pause_reason ==
         static_cast<std::uint32_t>(format::PauseReason::size_limit);
}

bool is_recording(const Experiment& experiment) {
  return experiment.state() == format::State::recording && !was_told_to_end(experiment) &&
         !has_executed(experiment);
}

std::string failure_text(const format::ControlPage& control) {
  if (const auto* row = format::find_failure(control.failure))
    return std::string(row->what) + "; " + std::string(row->next);
  return "the reason is not known";
}

Result<Experiment> open_experiment(const std::string& directory) {
  Experiment experiment;
  experiment.directory = directory;
  auto header = read_header(directory);
  if (!header) return tl::unexpected(header.error());
  experiment.header = std::move(*header);
  auto control = read_finished_control(directory, experiment.header);
  if (!control) return tl::unexpected(control.error());
  experiment.control = control->page;
  experiment.closed = control->closed;
  experiment.is_being_finished = is_being_finished(*control, experiment.header);
  if (experiment.control.session != experiment.header.session)
    return fault(directory + " holds files of different runs", "record again");
  if (experiment.state() == format::State::failed && experiment.control.start_time == 0)
    return fault(directory +
                 " holds nothing: recording could not begin: " + failure_text(experiment.control));
  if (experiment.state() == format::State::none || experiment.state() == format::State::armed)
    return fault(directory +
                     " holds nothing: the program has not reached the point of recording, or " +
                     "ended before it",
                 "run it again");
  experiment.counters = counters_of(directory, experiment.header.session);
  add_counters(experiment.header.events, experiment.counters);
  auto objects = read_map(directory, experiment.control);
  if (!objects) return tl::unexpected(objects.error());
  experiment.objects = std::move(*objects);
  experiment.is_still = experiment.closed || life_of(experiment.header) == Life::over;
  return experiment;
}

}  // namespace gnomon::reader
