// Lines that this side adds to an experiment: to its log, its notes and its group. Any thread.
#include "injector/base/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "injector/attach/remote/descriptor.h"
#include "libcollector/format/names.h"
#include "libcollector/format/text.h"
#include "reader/base/clock.h"

namespace gnomon::injector {
namespace {

namespace fs = std::filesystem;

// In one write, so that lines of several writers never mix.
Result<void> append(const std::string& path, const std::string& text) {
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool written =
      file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (written) return {};
  return fault(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
               "see whether you may write there and the disk has room");
}

}  // namespace

// Bytes of the reason that are no UTF-8 are replaced.
Result<void> write_log(const std::string& experiment, format::ControlPage& page,
                       std::string_view event, const std::string& reason) {
  nlohmann::json object{{"line", std::atomic_ref(page.log_lines).fetch_add(1)},
                        {"event", event},
                        {"time", monotonic_now()}};
  if (!reason.empty()) object[format::kLogReason] = reason;
  std::string line = object.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  line.pop_back();  // }
  const std::uint32_t check = format::line_check(page.session, line.data(), line.size());
  return append(experiment + "/" + format::kLogFile,
                fmt::format("{}{}{:08x}{}\n", line, format::kCheckKey, check, format::kCheckEnd));
}

Result<void> write_notes(const std::string& experiment, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (text.empty()) return {};
  return append(experiment + "/" + format::kNotesFile, text);
}

// The experiment's path is written relative to the group's directory where it lies below that.
Result<void> join_group(const std::string& group, const std::string& experiment) {
  constexpr const char* kHead = "#analyzer experiment group\n";
  const Descriptor file(open(group.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file || flock(file.get(), LOCK_EX) != 0)
    return fault(fmt::format("cannot write {}: {}", group, std::strerror(errno)),
                 "see whether you may write there");
  struct stat info {};
  const bool is_new = fstat(file.get(), &info) != 0 || info.st_size == 0;
  const fs::path path = fs::path(experiment).lexically_relative(fs::path(group).parent_path());
  const std::string name =
      path.empty() || path.string().starts_with("..") ? experiment : path.string();
  return append(group, (is_new ? kHead : "") + name + "\n");
}

}  // namespace gnomon::injector
