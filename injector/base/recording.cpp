// Recordings that go on in processes, seen from outside: their control pages. Any thread.
#include "injector/base/recording.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <sstream>

#include "injector/attach/remote/namespace_view.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/base/sampler.h"
#include "libcollector/format/names.h"

namespace gnomon::injector {
namespace {

namespace fs = std::filesystem;
using format::ControlPage;
using Page = MappedControl;

// The page, if it is the one of this process. The collector maps it only once it has its full size.
Page map_page(const std::string& path, pid_t own) {
  const int fd = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return nullptr;
  ControlPage seen{};
  struct stat info {};
  void* memory = MAP_FAILED;
  if (pread(fd, &seen, sizeof seen, 0) == sizeof seen && seen.magic == format::kControlMagic &&
      seen.pid == static_cast<std::uint32_t>(own) && fstat(fd, &info) == 0 &&
      info.st_size >= static_cast<off_t>(format::kControlBytes))
    memory = mmap(nullptr, format::kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return Page(memory == MAP_FAILED ? nullptr : static_cast<ControlPage*>(memory));
}

// A process may have experiments of this session that have ended. It writes its own number, which
// in a pid namespace is another.
Found find(const fs::path& stem, std::uint64_t session, pid_t pid,
           bool (*fits)(const ControlPage& page)) {
  const pid_t own = own_number(pid);
  const std::string prefix = stem.filename().string() + ".";
  std::error_code error;
  for (fs::directory_iterator at(stem.parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".er" || at->path().filename().string().rfind(prefix, 0) != 0)
      continue;
    Page page = map_page(at->path() / format::kControlFile, own);
    if (page && page->session == session && fits(*page))
      return {at->path().string(), std::move(page)};
  }
  return {};
}

bool any(const ControlPage&) { return true; }

bool has_state(const ControlPage& page, std::initializer_list<format::State> states) {
  return std::find(states.begin(), states.end(), static_cast<format::State>(page.state)) !=
         states.end();
}

// Not one that has ended, or failed, before.
bool has_just_begun(const ControlPage& page) {
  using format::State;
  return has_state(page, {State::recording, State::armed, State::none});
}

// /directory/test of /directory/test.N.er and of /directory/test.er; empty: it is no such name.
std::string stem_of(const std::string& experiment) {
  if (!experiment.ends_with(".er")) return "";
  const fs::path name = fs::path(experiment).replace_extension();
  const std::string number = name.extension();
  const bool is_numbered =
      number.size() > 1 && number.find_first_not_of("0123456789", 1) == std::string::npos;
  return is_numbered ? fs::path(name).replace_extension() : name;
}

// A recording of process `pid` whose page `mapper` has mapped. What is in another mount namespace
// is named as the mapper sees it.
std::optional<Recording> mapped_by(pid_t mapper, pid_t pid, bool (*fits)(const ControlPage& page)) {
  const pid_t own = own_number(pid);
  std::istringstream maps(proc_text(mapper, "maps"));
  for (std::string line; std::getline(maps, line);) {
    const auto at = line.find('/');
    if (at == std::string::npos) continue;
    const fs::path path = line.substr(at);
    const std::string stem = stem_of(path.parent_path());
    if (path.filename() != format::kControlFile || stem.empty()) continue;
    for (const std::string& root : {std::string(), "/proc/" + std::to_string(mapper) + "/root"}) {
      const Page page = map_page(root + path.string(), own);
      if (page && fits(*page))
        return Recording{root + path.parent_path().string(), root + stem, page->session};
    }
  }
  return std::nullopt;
}

// The gnomon-sampler that records the process alone; 0: none does.
pid_t sampler_alone_of(pid_t pid) {
  const std::string words =
      std::string(1, '\0') + format::kAlone + '\0' + std::to_string(pid) + '\0';
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const auto candidate = static_cast<pid_t>(std::atoi(at->path().filename().c_str()));
    if (candidate <= 0) continue;
    const std::string line = proc_text(candidate, "cmdline");
    if (line.starts_with("gnomon-sampler") && line.find(words) != std::string::npos)
      return candidate;
  }
  return 0;
}

// Likewise; what the process has mapped comes first.
std::optional<Recording> recorded_into(pid_t pid, bool (*fits)(const ControlPage& page)) {
  if (auto mapped = mapped_by(pid, pid, fits)) return mapped;
  const pid_t sampler = sampler_alone_of(pid);
  return sampler > 0 ? mapped_by(sampler, pid, fits) : std::nullopt;
}

}  // namespace

bool records(const ControlPage& page) {
  using format::Ask;
  const auto state = static_cast<format::State>(page.state);
  const auto asked = static_cast<Ask>(page.asked);
  // A launched program that is stopped while it is held has not begun as it was told to.
  const bool begins = state == format::State::armed && asked != Ask::nothing;
  return page.major == format::kFormatMajor && (state == format::State::recording || begins) &&
         asked != Ask::end;
}

Found find_experiment(const std::string& stem, std::uint64_t session, pid_t pid) {
  return find(stem, session, pid, any);
}

Found find_recording(const std::string& stem, std::uint64_t session, pid_t pid) {
  return find(stem, session, pid, records);
}

bool is_recording(const std::string& stem, std::uint64_t session, pid_t pid) {
  return find_recording(stem, session, pid).page != nullptr;
}

bool ask_to_end(const std::string& stem, std::uint64_t session, pid_t pid) {
  const Page page = find_recording(stem, session, pid).page;
  if (!page) return false;
  ask_to_end(*page);
  return true;
}

void ask_to_end(ControlPage& page) {
  ask_for_sample(page, format::Verb::end, format::SampleEvent::end);
  std::atomic_ref(page.asked).store(static_cast<std::uint32_t>(format::Ask::end));
}

Fault with_left_behind(const Fault& why, const Settings& settings, pid_t pid) {
  const auto [experiment, page] = find(settings.stem, settings.session, pid, has_just_begun);
  if (!page) return why;
  if (has_state(*page, {format::State::recording}))
    return {why.what, "what was recorded until then is in " + experiment};
  std::error_code ignored;
  fs::remove_all(experiment, ignored);
  return why;
}

std::optional<Recording> recording_in(pid_t pid) { return recorded_into(pid, records); }

std::optional<Recording> open_recording_in(pid_t pid) {
  return recorded_into(pid, [](const ControlPage& page) {
    return has_just_begun(page) && static_cast<format::Ask>(page.asked) != format::Ask::end;
  });
}

std::optional<Recording> failed_recording_in(pid_t pid) {
  return recorded_into(pid, [](const ControlPage& page) {
    return page.major == format::kFormatMajor && has_state(page, {format::State::failed});
  });
}

}  // namespace gnomon::injector
