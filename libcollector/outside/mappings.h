// Which files the code of another process lies in, from /proc and the kernel's records of new
// mappings. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcollector/outside/record.h"

namespace gnomon::outside {

// A mapping of code.
struct CodeMapping {
  static constexpr int kUnknown = -1, kNone = -2;

  std::uint64_t begin = 0, end = 0, offset = 0;
  std::uint64_t inode = 0;
  std::uint32_t major = 0, minor = 0;
  std::string path;  // as the kernel has it: [vdso], //anon, empty, or with " (deleted)"
  // Of code that a program has moved to memory without a file (large pages): bytes from the begin
  // of the file's mapping in front of it, whose file, offset and path the others are. 0: it shows
  // the file itself.
  std::uint64_t moved = 0;
  int object = kUnknown;  // whose this is, to be set by the user of this class; kNone: of no object

  // Returns true if both show one file, and both show each of its bytes at one place.
  bool continues(const CodeMapping& other) const {
    return inode == other.inode && major == other.major && minor == other.minor &&
           begin - offset == other.begin - other.offset && inode != 0;
  }
};

class CodeMappings {
 public:
  // Replaces all by what /proc/PID/maps shows. Returns false if that cannot be read.
  bool read(pid_t pid);
  // Adds a mapping and takes it out of those that lay there. Returns what these were, except for
  // parts of the same file at the same place.
  std::vector<CodeMapping> add(const NewMapping& mapping);
  void clear() { by_end_.clear(); }
  // Returns the mapping that contains `pc`; null if no mapping does.
  CodeMapping* find(std::uint64_t pc);
  template <typename Visit>
  void visit(Visit visit) {
    for (auto& [end, mapping] : by_end_) visit(mapping);
  }

 private:
  std::map<std::uint64_t, CodeMapping> by_end_;
};

}  // namespace gnomon::outside
