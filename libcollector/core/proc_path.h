// Paths of files in /proc. Any context.
#pragma once
#include <cstddef>

namespace gnomon::collector {

// "/proc/self" and "stat" make "/proc/self/stat". What does not fit is cut off.
class ProcPath {
 public:
  ProcPath(const char* process, const char* name) {
    add(process);
    add("/");
    add(name);
  }
  const char* text() const { return text_; }

 private:
  void add(const char* part) {
    for (; *part && length_ + 1 < sizeof text_; ++part) text_[length_++] = *part;
  }

  char text_[64] = {};
  std::size_t length_ = 0;
};

}  // namespace gnomon::collector
