// An experiment: a directory NAME.er, written by a collector that may still be writing. Any thread.
#include "reader/experiment/experiment.h"

#include <cstring>

#include "libcollector/format/block.h"
#include "libcollector/format/names.h"
#include "reader/experiment/json_lines.h"
#include "reader/io/load.h"
#include "reader/io/mapped_file.h"

namespace gnomon::reader {
namespace {

using Json = nlohmann::json;

struct Control {
  format::ControlPage page{};
  bool closed = false;
};

Result<Control> read_control(const std::string& directory) {
  const std::string path = directory + "/" + format::kControlFile;
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  if (file->bytes().size() < format::kControlBytes)
    return fault(path + " is damaged: it is too short", "record again");
  const std::byte* at = file->bytes().data();
  const auto* closed = reinterpret_cast<const format::ClosedPage*>(at + format::kClosedPageOffset);
  const std::uint32_t check = load(closed->check);
  Control control;
  control.closed = check != 0;
  std::memcpy(&control.page,
              control.closed ? reinterpret_cast<const std::byte*>(&closed->page) : at,
              sizeof control.page);
  if (control.page.magic != format::kControlMagic || control.page.major != format::kFormatMajor ||
      control.page.state > static_cast<std::uint32_t>(format::kLastState) ||
      (control.closed && check != format::page_check(control.page)))
    return fault(path + " is damaged", "record again");
  return control;
}

Result<std::vector<LoadObject>> read_map(const std::string& directory, std::uint32_t written) {
  const std::string path = directory + "/" + format::kMapFile;
  auto lines = read_lines(path);
  if (!lines) return tl::unexpected(lines.error());
  if (lines->size() < written)
    return fault(path + " is damaged: " + std::to_string(written) + " lines were written, " +
                     std::to_string(lines->size()) + " are there",
                 "record again");
  std::vector<LoadObject> objects;
  for (const Json& line : *lines) {
    const auto event = field<std::string>(line, "event");
    const auto epoch = field<std::uint32_t>(line, "epoch");
    const std::uint64_t begin = hex(line, "begin");
    if (event == "load")
      objects.push_back({field<std::uint64_t>(line, "time"), begin, hex(line, "end"),
                         hex(line, "bias"), field<std::string>(line, "path"),
                         field<std::string>(line, "build_id"), epoch});
    // Two lines of one object: the later one counts.
    if (event == "unload")
      for (auto object = objects.rbegin(); object != objects.rend(); ++object) {
        if (object->begin != begin || object->first_epoch >= epoch) continue;
        object->end_epoch = epoch;
        break;
      }
  }
  return objects;
}

}  // namespace

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
  auto control = read_control(directory);
  if (!control) return tl::unexpected(control.error());
  experiment.control = control->page;
  experiment.closed = control->closed;
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
  auto objects = read_map(directory, experiment.control.map_lines);
  if (!objects) return tl::unexpected(objects.error());
  experiment.objects = std::move(*objects);
  return experiment;
}

}  // namespace gnomon::reader
