// An experiment: a directory NAME.er, written by a collector that may still be writing. Any thread.
#include "reader/experiment/experiment.h"

#include <sys/stat.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "libcollector/format/block.h"
#include "libcollector/format/names.h"
#include "reader/io/mapped_file.h"

namespace gnomon::reader {
namespace {

using Json = nlohmann::json;

template <typename T>
T field(const Json& object, const char* name, T otherwise = {}) {
  if (!object.is_object()) return otherwise;
  const auto at = object.find(name);
  if (at == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>)
    return at->is_string() ? at->template get<T>() : otherwise;
  else
    return at->is_number_unsigned() ? at->template get<T>() : otherwise;
}

Json member(const Json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  return at == object.end() ? Json() : *at;
}

// "0x1f" to 31; damaged text to 0, which maps nothing.
std::uint64_t hex(const Json& object, const char* name) {
  const auto text = field<std::string>(object, name);
  return text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 16);
}

Result<void> check_directory(const std::string& directory) {
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0)
    return fault("there is no experiment " + directory,
                 "name a directory that the collector wrote, such as test.1.er");
  if (!S_ISDIR(info.st_mode) || stat((directory + "/" + format::kHeaderFile).c_str(), &info) != 0)
    return fault(directory + " is not an experiment",
                 "name a directory that the collector wrote, such as test.1.er");
  return {};
}

Result<format::ControlPage> read_control(const std::string& directory) {
  const std::string path = directory + "/" + format::kControlFile;
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  format::ControlPage page{};
  if (file->bytes().size() < sizeof page)
    return fault(path + " is damaged: it is too short", "record again");
  std::memcpy(&page, file->bytes().data(), sizeof page);
  if (page.magic != format::kControlMagic || page.state > 3)
    return fault(path + " is damaged", "record again");
  return page;
}

Result<std::vector<LoadObject>> read_map(const std::string& directory) {
  const std::string path = directory + "/" + format::kMapFile;
  auto text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  std::vector<LoadObject> objects;
  std::size_t number = 1;
  for (std::size_t at = 0; at < text->size(); ++number) {
    const std::size_t end = text->find('\n', at);
    if (end == std::string::npos) break;  // being written
    const Json line = Json::parse(text->begin() + static_cast<std::ptrdiff_t>(at),
                                  text->begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    at = end + 1;
    if (!line.is_object())
      return fault(path + " is damaged: line " + std::to_string(number) + " is not JSON",
                   "record again");
    if (field<std::string>(line, "event") != "load") continue;
    objects.push_back({field<std::uint64_t>(line, "time"), hex(line, "begin"), hex(line, "end"),
                       hex(line, "bias"), field<std::string>(line, "path"),
                       field<std::string>(line, "build_id")});
  }
  return objects;
}

}  // namespace

std::string failure_text(const format::ControlPage& control) {
  for (const auto& [failure, what, next] : format::kFailures)
    if (static_cast<std::uint32_t>(failure) == control.failure)
      return std::string(what) + "; " + std::string(next);
  return "the reason is not known";
}

Result<Header> read_header(const std::string& directory) {
  if (auto there = check_directory(directory); !there) return tl::unexpected(there.error());
  const std::string path = directory + "/" + format::kHeaderFile;
  auto text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return fault(path + " is damaged: it is not JSON", "record again");
  const auto major = field<std::uint64_t>(member(json, "format"), "major");
  if (major == 0) return fault(path + " is damaged: it names no format", "record again");
  if (major > format::kFormatMajor)
    return fault(directory + " has format " + std::to_string(major) +
                     ", this program reads up to " + std::to_string(format::kFormatMajor),
                 "use a newer Gnomon");
  Header header;
  header.session = hex(json, "session");
  header.pid = field<std::uint32_t>(json, "pid");
  header.collector = field<std::string>(json, "collector");
  header.executable = field<std::string>(json, "executable");
  for (const Json& argument : member(json, "argv"))
    if (argument.is_string()) header.arguments.push_back(argument.get<std::string>());
  header.host = field<std::string>(json, "host");
  const Json clock = member(json, "clock");
  header.clock_source = field<std::string>(clock, "source");
  header.clock_timer = field<std::string>(clock, "timer");
  header.interval = {field<std::uint64_t>(clock, "interval")};
  header.start_realtime = field<std::uint64_t>(json, "start_realtime");
  header.stack_walk = field<std::string>(member(json, "stacks"), "walk");
  return header;
}

Result<Experiment> open_experiment(const std::string& directory) {
  Experiment experiment;
  experiment.directory = directory;
  auto header = read_header(directory);
  if (!header) return tl::unexpected(header.error());
  experiment.header = std::move(*header);
  auto control = read_control(directory);
  if (!control) return tl::unexpected(control.error());
  experiment.control = *control;
  if (control->session != experiment.header.session)
    return fault(directory + " holds files of different runs", "record again");
  if (experiment.state() == format::State::failed && control->start_time == 0)
    return fault(directory +
                 " holds nothing: recording could not begin: " + failure_text(*control));
  auto objects = read_map(directory);
  if (!objects) return tl::unexpected(objects.error());
  experiment.objects = std::move(*objects);
  return experiment;
}

}  // namespace gnomon::reader
