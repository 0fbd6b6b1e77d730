// Which files the code of another process lies in, from /proc and the kernel's records of new
// mappings. In gnomon-sampler.
#include "libcollector/outside/mappings.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace gnomon::outside {
namespace {

// The kernel writes an end of line in a path as \012.
std::string unescaped(std::string path) {
  static constexpr char kEnd[] = "\\012";
  for (std::size_t at = 0; (at = path.find(kEnd, at)) != std::string::npos; ++at)
    path.replace(at, sizeof kEnd - 1, "\n");
  return path;
}

// rights: five bytes. Returns false if the line is none of a mapping.
bool read_line(const std::string& line, CodeMapping& to, char* rights) {
  int path = 0;
  if (std::sscanf(line.c_str(),
                  "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
                  &to.begin, &to.end, rights, &to.offset, &to.major, &to.minor, &to.inode,
                  &path) < 7)
    return false;
  to.path = unescaped(line.substr(static_cast<std::size_t>(path)));
  return true;
}

// Takes an anonymous mapping for a part of the file that is mapped right in front of it.
void take_for_moved(CodeMapping& mapping, const CodeMapping& file) {
  if (mapping.inode != 0 || !mapping.path.empty()) return;
  const std::uint64_t begin = mapping.begin, end = mapping.end;
  mapping = file;
  mapping.begin = begin;
  mapping.end = end;
  mapping.moved = begin - file.begin;
  mapping.offset = file.offset + mapping.moved;
}

}  // namespace

bool CodeMappings::read(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  by_end_.clear();
  std::string line;
  bool any = false;
  CodeMapping latest;  // that shows a file; what continues it goes up to latest_end
  std::uint64_t latest_end = 0;
  while (std::getline(file, line)) {
    any = true;
    CodeMapping mapping;
    char rights[5] = "";
    if (!read_line(line, mapping, rights)) continue;
    const bool is_code = std::strchr(rights, 'x') != nullptr;
    if (is_code && latest.inode != 0 && mapping.begin == latest_end)
      take_for_moved(mapping, latest);
    if (is_code) by_end_[mapping.end] = mapping;
    if (mapping.inode == 0) continue;
    if (mapping.moved == 0) latest = mapping;
    latest_end = mapping.end;
  }
  return any;
}

std::vector<CodeMapping> CodeMappings::add(const NewMapping& mapping) {
  CodeMapping fresh;
  fresh.begin = mapping.begin;
  fresh.end = mapping.begin + mapping.size;
  fresh.offset = mapping.offset;
  fresh.inode = mapping.inode;
  fresh.major = mapping.major;
  fresh.minor = mapping.minor;
  fresh.path = mapping.file;
  std::vector<CodeMapping> replaced;
  for (auto at = by_end_.upper_bound(fresh.begin);
       at != by_end_.end() && at->second.begin < fresh.end;) {
    CodeMapping old = at->second;
    at = by_end_.erase(at);
    if (fresh.continues(old))
      fresh.object = old.object;
    else
      replaced.push_back(old);
    if (old.end > fresh.end) {
      CodeMapping rest = old;
      rest.offset += fresh.end - rest.begin;
      if (rest.moved != 0) rest.moved += fresh.end - rest.begin;
      rest.begin = fresh.end;
      by_end_[rest.end] = rest;
    }
    if (old.begin < fresh.begin) {
      old.end = fresh.begin;
      by_end_[old.end] = old;
    }
  }
  by_end_[fresh.end] = std::move(fresh);
  return replaced;
}

CodeMapping* CodeMappings::find(std::uint64_t pc) {
  const auto at = by_end_.upper_bound(pc);
  return at != by_end_.end() && pc >= at->second.begin ? &at->second : nullptr;
}

}  // namespace gnomon::outside
