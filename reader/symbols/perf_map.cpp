// Names of code that a program made at run time. Any thread.
#include "reader/symbols/perf_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>

namespace gnomon::reader {
namespace {

// When this system was started, seconds since 1970; 0: not known.
std::uint64_t boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("btime ")) return std::strtoull(line.c_str() + 6, nullptr, 10);
  return 0;
}

bool is_of_this_boot(const Header& header) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  return !header.boot.empty() && std::getline(file, boot) && boot == header.boot;
}

// When the process began, seconds since 1970.
std::uint64_t begin_of(const Header& header) {
  const auto ticks = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return boot_time() + header.start_ticks / (ticks == 0 ? 100 : ticks);
}

struct Entry {
  std::uint64_t begin, size;
  std::string_view name;
};

// "START SIZE NAME", both numbers hexadecimal. Returns false if the line is another one.
bool parse(std::string_view line, Entry& entry) {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::uint64_t* const number : {&entry.begin, &entry.size}) {
    if (line.substr(static_cast<std::size_t>(at - line.data())).starts_with("0x")) at += 2;
    const auto [behind, error] = std::from_chars(at, end, *number, 16);
    if (error != std::errc() || behind == end || *behind != ' ') return false;
    at = behind + 1;
  }
  entry.name = {at, static_cast<std::size_t>(end - at)};
  return entry.size != 0 && entry.size <= ~entry.begin && !entry.name.empty();
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

// Anybody may have made a pipe of that name: opening one must not wait for a writer.
OpenFile open_regular(const std::string& path, struct stat& state) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return {};
  OpenFile file(fdopen(descriptor, "r"));
  if (!file) close(descriptor);
  const bool is_regular = file && fstat(descriptor, &state) == 0 && S_ISREG(state.st_mode);
  return is_regular ? std::move(file) : OpenFile();
}

}  // namespace

void PerfMap::refresh(const Experiment& experiment, const std::string& root) {
  const Header& header = experiment.header;
  const std::string path = fmt::format("{}/tmp/perf-{}.map", root, header.pid);
  struct stat of_map {
  }, of_experiment{};
  const OpenFile file =
      is_of_this_boot(header) && stat(experiment.directory.c_str(), &of_experiment) == 0
          ? open_regular(path, of_map)
          : OpenFile();
  const Version now{of_map.st_dev, of_map.st_ino, static_cast<std::uint64_t>(of_map.st_size),
                    of_map.st_mtim.tv_sec, of_map.st_mtim.tv_nsec};
  // A process that ends may take its file with it: the names stay.
  if (!file || now == version_) return;
  version_ = now;
  ranges_.clear();
  refusal_.clear();
  if (of_map.st_uid != of_experiment.st_uid && of_map.st_uid != 0)
    refusal_ = fmt::format("{} belongs to another user than the experiment", path);
  else if (static_cast<std::uint64_t>(of_map.st_mtime) < begin_of(header))
    refusal_ = fmt::format("{} is older than the process", path);
  if (refusal_.empty())
    read(file.get());
  else
    refusal_ += ": names of code that was made at run time are not taken from it.";
}

// A later entry stands for what the earlier ones it overlaps were replaced by.
void PerfMap::read(std::FILE* file) {
  constexpr std::size_t kMost = 256 << 20;  // bytes
  std::map<std::uint64_t, Range> ranges;
  char* text = nullptr;
  std::size_t capacity = 0, bytes = 0;
  for (ssize_t size; bytes < kMost && (size = getline(&text, &capacity, file)) > 0;) {
    bytes += static_cast<std::size_t>(size);
    std::string_view line(text, static_cast<std::size_t>(size));
    if (line.ends_with('\n')) line.remove_suffix(1);
    Entry entry{};
    if (!parse(line, entry)) continue;
    const std::uint64_t end = entry.begin + entry.size;
    auto at = ranges.lower_bound(entry.begin);
    if (at != ranges.begin() && std::prev(at)->second.end > entry.begin) --at;
    while (at != ranges.end() && at->second.begin < end) at = ranges.erase(at);
    ranges[entry.begin] = {entry.begin, end, std::string(entry.name)};
  }
  free(text);
  for (auto& [begin, range] : ranges) ranges_.push_back(std::move(range));
}

const std::string* PerfMap::name(std::uint64_t pc) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), pc,
                       [](std::uint64_t a, const Range& range) { return a < range.begin; });
  return after != ranges_.begin() && pc < (after - 1)->end ? &(after - 1)->name : nullptr;
}

}  // namespace gnomon::reader
