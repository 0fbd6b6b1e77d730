// A running process seen from outside: memory, mappings and /proc. Any thread; stops nothing.
#include "injector/attach/remote/remote_process.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <thread>

namespace gnomon::injector {
namespace {

// Returns the fields of "PID (name) STATE ..." from the state on; the name may contain anything.
std::string fields_of(const std::string& stat) {
  const std::size_t at = stat.rfind(") ");
  return at == std::string::npos ? "" : stat.substr(at + 2);
}

std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return word;
}

std::optional<std::uint64_t> hexadecimal(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, 16);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// proc_pid_maps(5): begin-end, permissions, offset, device, inode, path. Written for speed: a
// process may have tens of thousands of lines.
std::optional<Mapping> mapping_in(std::string_view line) {
  const std::string_view range = next_word(line), permissions = next_word(line);
  const std::size_t dash = std::min(range.find('-'), range.size() - 1);
  const auto begin = hexadecimal(range.substr(0, dash)), end = hexadecimal(range.substr(dash + 1)),
             offset = hexadecimal(next_word(line));
  if (!begin || !end || !offset) return std::nullopt;
  next_word(line);
  next_word(line);
  return Mapping{*begin, *end, *offset, std::string(permissions), std::string(line)};
}

}  // namespace

std::optional<std::uint64_t> number_in(const std::string& text, const std::string& name, int base) {
  const std::string key = name + ":";
  for (std::size_t line = 0; line < text.size(); ++line) {
    if (text.compare(line, key.size(), key) == 0)
      return std::strtoull(text.c_str() + line + key.size(), nullptr, base);
    line = text.find('\n', line);
    if (line == text.npos) break;
  }
  return std::nullopt;
}

bool read_memory(pid_t pid, std::uint64_t address, void* to, std::size_t bytes) {
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

bool write_memory(pid_t pid, std::uint64_t address, const void* from, std::size_t bytes) {
  const iovec here{const_cast<void*>(from), bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  return process_vm_writev(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

bool write_code(pid_t pid, std::uint64_t address, const void* from, std::size_t bytes) {
  const int file = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t written = pwrite(file, from, bytes, static_cast<off_t>(address));
  close(file);
  return written == static_cast<ssize_t>(bytes);
}

std::vector<Mapping> mappings_of(pid_t pid) {
  std::vector<Mapping> found;
  const std::string text = proc_text(pid, "maps");
  for (std::string_view all = text; !all.empty();) {
    const std::size_t end = std::min(all.find('\n'), all.size());
    if (auto mapping = mapping_in(all.substr(0, end))) found.push_back(std::move(*mapping));
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return found;
}

bool is_mapped(pid_t pid, std::uint64_t begin, std::uint64_t bytes,
               const std::string& permissions) {
  std::uint64_t at = begin;
  for (const Mapping& mapping : mappings_of(pid))
    if (at >= mapping.begin && at < mapping.end && mapping.permissions.starts_with(permissions))
      at = mapping.end;
  return bytes != 0 && at >= begin + bytes;
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator at(tasks, error), end; !error && at != end;
       at.increment(error))
    if (const long tid = std::strtol(at->path().filename().c_str(), nullptr, 10); tid > 0)
      threads.push_back(static_cast<pid_t>(tid));
  return threads;
}

void look_at_each(std::size_t count, const std::function<void(std::size_t index)>& look) {
  constexpr std::size_t kPiece = 64;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t begin; (begin = next.fetch_add(kPiece)) < count;)
      for (std::size_t i = begin; i < std::min(begin + kPiece, count); ++i) look(i);
  };
  const std::size_t workers = std::min<std::size_t>(
      {count / (2 * kPiece), 8, std::max(1u, std::thread::hardware_concurrency())});
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < workers; ++i) others.emplace_back(work);
  work();
}

// During execve(2) /proc/PID/auxv is empty.
std::string program_identity(pid_t pid) {
  constexpr int kLooks = 100;
  std::string words = proc_text(pid, "auxv");
  for (int i = 0; i < kLooks && !words.empty() && words.find_first_not_of('\0') == words.npos;
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    words = proc_text(pid, "auxv");
  }
  return words;
}

bool is_program(pid_t pid, const std::string& identity) {
  const std::string now = program_identity(pid);
  return now == identity || (now.empty() && threads_of(pid).size() > 1);
}

char state_of(pid_t pid, pid_t tid) {
  const std::string fields = fields_of(proc_text(pid, "task/" + std::to_string(tid) + "/stat"));
  return fields.empty() ? '\0' : fields[0];
}

bool has_ended(pid_t pid) {
  const char state = state_of(pid, pid);
  return state == '\0' || state == 'X' || (state == 'Z' && threads_of(pid).size() <= 1);
}

std::uint64_t stat_number(const std::string& stat, int place) {
  std::istringstream fields(fields_of(stat));
  constexpr int kFirst = 3;  // the state; pid and name precede it
  std::string skipped;
  std::uint64_t number = 0;
  for (int i = kFirst; i < place; ++i) fields >> skipped;
  return fields >> number ? number : 0;
}

std::uint64_t process_flags(pid_t pid) {
  constexpr int kFlags = 9;
  return stat_number(proc_text(pid, "stat"), kFlags);
}

// Not by a stream, which throws if the process ends between two reads.
std::string proc_text(pid_t pid, const std::string& name) {
  std::string text;
  const int file =
      open(("/proc/" + std::to_string(pid) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> piece{};
  ssize_t n = 0;
  while (file >= 0 && (n = read(file, piece.data(), piece.size())) > 0)
    text.append(piece.data(), static_cast<std::size_t>(n));
  if (file >= 0) close(file);
  return n == 0 ? text : "";
}

std::string proc_link(pid_t pid, const std::string& name) {
  std::array<char, 4096> path{};
  const ssize_t n =
      readlink(("/proc/" + std::to_string(pid) + "/" + name).c_str(), path.data(), path.size() - 1);
  return {path.data(), static_cast<std::size_t>(n > 0 ? n : 0)};
}

std::optional<std::uint64_t> status_number(pid_t pid, const std::string& name) {
  return number_in(proc_text(pid, "status"), name);
}

std::optional<std::uint64_t> status_mask(pid_t pid, pid_t tid, const std::string& name) {
  return number_in(proc_text(pid, "task/" + std::to_string(tid) + "/status"), name, 16);
}

}  // namespace gnomon::injector
