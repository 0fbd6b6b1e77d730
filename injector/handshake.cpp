// Handshake of a launch: finds the control page of the launched program's experiment and tells the
// collector, which holds the program there, to record. Any thread; no debugger needed.
#include "injector/handshake.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "injector/attach/view.h"
#include "libcollector/format/control.h"
#include "libcollector/format/names.h"

namespace gnomon::injector {
namespace {

namespace fs = std::filesystem;
using format::ControlPage;
using Clock = std::chrono::steady_clock;

struct Unmap {
  void operator()(ControlPage* page) const { munmap(page, format::kControlBytes); }
};
using Page = std::unique_ptr<ControlPage, Unmap>;

// The page, if it is the one of this run. The collector maps it only once it has its full size.
Page map_page(const std::string& path, std::uint64_t session, pid_t pid) {
  const int fd = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return nullptr;
  ControlPage seen{};
  struct stat info {};
  void* memory = MAP_FAILED;
  if (pread(fd, &seen, sizeof seen, 0) == sizeof seen && seen.magic == format::kControlMagic &&
      seen.session == session && seen.pid == static_cast<std::uint32_t>(pid) &&
      fstat(fd, &info) == 0 && info.st_size >= static_cast<off_t>(format::kControlBytes))
    memory = mmap(nullptr, format::kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return Page(memory == MAP_FAILED ? nullptr : static_cast<ControlPage*>(memory));
}

bool records(const ControlPage& page) {
  return page.major == format::kFormatMajor &&
         page.state == static_cast<std::uint32_t>(format::State::recording) &&
         page.asked != static_cast<std::uint32_t>(format::Ask::end);
}

// A process may have experiments of this session that have ended. It writes its own number, which
// in a pid namespace is another.
Page find_page(const fs::path& stem, std::uint64_t session, pid_t pid,
               bool (*fits)(const ControlPage& page)) {
  const pid_t own = own_number(pid);
  const std::string prefix = stem.filename().string() + ".";
  std::error_code error;
  for (fs::directory_iterator at(stem.parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".er" || at->path().filename().string().rfind(prefix, 0) != 0)
      continue;
    if (Page page = map_page(at->path() / format::kControlFile, session, own); page && fits(*page))
      return page;
  }
  return nullptr;
}

Fault failure_of(const ControlPage& page) {
  if (const auto* row = format::find_failure(page.failure))
    return {std::string(row->what), std::string(row->next)};
  return {"the collector could not begin", ""};
}

bool runs(pid_t pid) {
  char path[PATH_MAX];
  return readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path) > 0;
}

}  // namespace

Result<void> ask_to_record(const std::string& stem, std::uint64_t session, pid_t pid,
                           unsigned limit_ms, const std::stop_token& stop) {
  const auto limit = Clock::now() + std::chrono::milliseconds(limit_ms);
  Page page;
  for (; Clock::now() < limit && !stop.stop_requested();
       std::this_thread::sleep_for(std::chrono::microseconds(500))) {
    if (!page) page = find_page(stem, session, pid, [](const ControlPage&) { return true; });
    if (!page && runs(pid)) continue;
    if (!page) return {};  // it ended, and what reports say of that is said there
    if (page->major != format::kFormatMajor)
      return fault("libcollector.so is of another version", "install Gnomon anew");
    switch (static_cast<format::State>(std::atomic_ref(page->state).load())) {
      case format::State::none:
        continue;
      case format::State::armed:
        std::atomic_ref(page->asked).store(static_cast<std::uint32_t>(format::Ask::record));
        syscall(SYS_futex, &page->asked, FUTEX_WAKE, 1, nullptr, nullptr, 0);
        return {};
      case format::State::failed:
        return tl::unexpected(failure_of(*page));
      default:
        return {};
    }
  }
  if (page) return fault("the collector did not come as far as recording");
  return fault("the collector could not write " + stem + ".N.er",
               "see whether that file system is full, and whether the program may write there");
}

bool is_recording(const std::string& stem, std::uint64_t session, pid_t pid) {
  return find_page(stem, session, pid, records) != nullptr;
}

bool ask_to_end(const std::string& stem, std::uint64_t session, pid_t pid) {
  const Page page = find_page(stem, session, pid, records);
  if (!page) return false;
  std::atomic_ref(page->asked).store(static_cast<std::uint32_t>(format::Ask::end));
  return true;
}

}  // namespace gnomon::injector
