// What header.json says of a run, and whether its process is still there. Any thread.
#include "reader/experiment/header.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "libcollector/format/block.h"
#include "libcollector/format/names.h"
#include "reader/experiment/json_lines.h"
#include "reader/experiment/json_members.h"

namespace gnomon::reader {
namespace {

using Json = nlohmann::json;

Result<void> check_directory(const std::string& directory) {
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0)
    return fault("there is no experiment " + directory,
                 "name a directory that the collector wrote, such as test.1.er");
  const bool is_there = stat((directory + "/" + format::kHeaderFile).c_str(), &info) == 0;
  if (!is_there && errno == EACCES)
    return fault("cannot open " + directory + ": " + std::strerror(EACCES),
                 "read it as the user who recorded it, or as root");
  if (!is_there)
    return fault(directory + " is not an experiment",
                 "name a directory that the collector wrote, such as test.1.er");
  return {};
}

std::string first_line(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

// Of what follows the program's name in /proc/PID/stat, which may hold blanks and parentheses: the
// state is field 3, the number of threads field 20, the start field 22.
struct ProcessStat {
  char state = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;

  // A first thread that has ended is a zombie for as long as others run.
  bool is_over() const { return state == 'X' || (state == 'Z' && threads <= 1); }
};

ProcessStat read_stat(std::uint32_t pid) {
  const std::string line = first_line("/proc/" + std::to_string(pid) + "/stat");
  ProcessStat stat;
  std::size_t at = line.rfind(')');
  for (int field = 3; at != std::string::npos && field <= 22; ++field) {
    at = line.find(' ', at + 1);
    if (at == std::string::npos) break;
    const std::uint64_t number = std::strtoull(line.c_str() + at, nullptr, 10);
    if (field == 3) stat.state = line[at + 1];
    if (field == 20) stat.threads = number;
    if (field == 22) stat.start_ticks = number;
  }
  return stat;
}

// Returns false if the process counts time from another boot than we do (time_namespaces(7)), so
// that its start is another number here than it is to itself.
bool has_our_clock(std::uint32_t pid) {
  std::error_code error;
  const auto ours = std::filesystem::read_symlink("/proc/self/ns/time", error);
  if (error) return true;
  const auto its = std::filesystem::read_symlink(fmt::format("/proc/{}/ns/time", pid), error);
  return error || its == ours;
}

bool runs(std::uint32_t pid, const std::string& executable) {
  std::error_code error;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error) == executable;
}

format::Unit unit_named(const std::string& name) {
  for (std::size_t i = 0; i < format::kUnitNames.size(); ++i)
    if (format::kUnitNames[i] == name) return static_cast<format::Unit>(i);
  return format::Unit::none;
}

// None: an event of that row could not be read.
std::optional<EventLayout> layout_of(const Json& row) {
  EventLayout layout;
  layout.id = field<std::uint8_t>(row, "id");
  layout.name = field<std::string>(row, "name");
  layout.file = field<std::string>(row, "file");
  layout.kind = field<std::uint16_t>(row, "kind");
  layout.is_compact = field<std::string>(row, "layout") == "compact";
  layout.size = field<std::uint16_t>(row, "size");
  for (const Json& each : member(row, "fields"))
    layout.fields.push_back({field<std::string>(each, "name"), field<std::string>(each, "token"),
                             field<std::uint8_t>(each, "offset"),
                             field<std::uint8_t>(each, "width"),
                             unit_named(field<std::string>(each, "unit"))});
  const std::size_t head = layout.is_compact ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
  const bool fits = std::all_of(layout.fields.begin(), layout.fields.end(), [&](const auto& each) {
    return format::is_sound({"", "", each.offset, each.width, each.unit}, layout.size);
  });
  const bool is_named =
      !layout.name.empty() && !layout.file.empty() && layout.file.find('/') == std::string::npos;
  if (!fits || !is_named || layout.id == 0 || (layout.is_compact && layout.id >= 16) ||
      layout.size < head || layout.size % 8 != 0 || layout.kind >= format::kDataKinds)
    return std::nullopt;
  return layout;
}

}  // namespace

Result<Header> read_header(const std::string& directory) {
  if (auto there = check_directory(directory); !there) return tl::unexpected(there.error());
  const std::string path = directory + "/" + format::kHeaderFile;
  Json json;
  std::size_t lines = 0;
  auto read = each_line(path, 0, [&](const Json& line) -> Result<void> {
    if (++lines == 1) json = line;
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  if (lines != 1) return fault(path + " is damaged: it does not hold one line", "record again");
  const auto major = field<std::uint64_t>(member(json, "format"), "major");
  if (major == 0) return fault(path + " is damaged: it names no format", "record again");
  if (major != format::kFormatMajor)
    return fault(directory + " has format " + std::to_string(major) + ", this program reads " +
                     std::to_string(format::kFormatMajor),
                 major > format::kFormatMajor ? "use a newer Gnomon"
                                              : "record again, or use an older Gnomon");
  Header header;
  header.session = hex(json, "session");
  header.pid = field<std::uint32_t>(json, "pid");
  header.collector = field<std::string>(json, "collector");
  header.executable = field<std::string>(json, "executable");
  for (const Json& argument : member(json, "argv"))
    if (argument.is_string()) header.arguments.push_back(argument.get<std::string>());
  const Json process = member(json, "process");
  header.boot = field<std::string>(process, "boot");
  header.pid_namespace = field<std::string>(process, "pid_namespace");
  header.start_ticks = field<std::uint64_t>(process, "start_ticks");
  header.working_directory = field<std::string>(json, "cwd");
  header.parent = field<std::uint32_t>(json, "parent");
  header.host = field<std::string>(json, "host");
  header.system = field<std::string>(json, "system");
  header.release = field<std::string>(json, "release");
  header.machine = field<std::string>(json, "machine");
  header.page_bytes = field<std::uint64_t>(json, "page_bytes");
  header.memory_bytes = field<std::uint64_t>(json, "memory_bytes");
  header.cpus = field<std::uint64_t>(json, "cpus");
  header.cpu_model = field<std::string>(json, "cpu_model");
  header.cpu_mhz = field<std::uint64_t>(json, "cpu_mhz");
  const Json settings = member(json, "settings");
  for (const format::SettingRow& row : format::kSettings)
    header.settings[row.setting] =
        field<std::uint64_t>(settings, std::string(row.key).c_str(), row.initial);
  const Json clock = member(json, "clock");
  header.clock_source = field<std::string>(clock, "source");
  header.clock_timer = field<std::string>(clock, "timer");
  header.interval = {field<std::uint64_t>(clock, "interval")};
  header.outside = field<std::string>(json, "outside");
  header.start_realtime = field<std::uint64_t>(json, "start_realtime");
  header.stack_walk = field<std::string>(member(json, "stacks"), "walk");
  for (const Json& row : member(json, "events")) {
    auto layout = layout_of(row);
    if (!layout) return fault(path + " is damaged: a row of `events` is wrong", "record again");
    header.events.push_back(std::move(*layout));
  }
  return header;
}

Life life_of(const Header& header) {
  if (header.boot.empty() || header.start_ticks == 0 || header.pid == 0 || header.pid > INT_MAX)
    return Life::unknown;
  const std::string boot = first_line("/proc/sys/kernel/random/boot_id");
  utsname host{};
  uname(&host);
  if (boot != header.boot) return host.nodename == header.host ? Life::over : Life::unknown;
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  if (error || here != header.pid_namespace) return Life::unknown;
  const ProcessStat stat = read_stat(header.pid);
  if (stat.start_ticks != 0 && !has_our_clock(header.pid))
    return runs(header.pid, header.executable) ? Life::running : Life::unknown;
  if (stat.start_ticks == header.start_ticks) return stat.is_over() ? Life::over : Life::running;
  if (stat.start_ticks != 0) return Life::over;
  // /proc may hide other users' processes.
  const bool none = kill(static_cast<pid_t>(header.pid), 0) != 0 && errno == ESRCH;
  return none ? Life::over : Life::unknown;
}

}  // namespace gnomon::reader
