// The path of a load object's file as the kernel knows it. Any context: raw system calls.
#include "libcollector/objects/file_path.h"

#include <errno.h>
#include <fcntl.h>

#include <cstring>

#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

// /proc/self/maps, a byte after the other.
class Maps {
 public:
  Maps() : file_(raw_syscall(SYS_openat, AT_FDCWD, arg("/proc/self/maps"), O_RDONLY | O_CLOEXEC)) {}
  ~Maps() {
    if (file_ >= 0) raw_syscall(SYS_close, file_);
  }
  Maps(const Maps&) = delete;
  Maps& operator=(const Maps&) = delete;

  // Returns 0 at the end.
  char next() {
    if (at_ == length_) {
      const long got = file_ < 0 ? 0 : raw_syscall(SYS_read, file_, arg(bytes_), sizeof bytes_);
      at_ = 0;
      length_ = got > 0 ? got : 0;
    }
    return length_ > 0 ? bytes_[at_++] : '\0';
  }

 private:
  const long file_;
  long length_ = 0, at_ = 0;
  char bytes_[512] = {};
};

// Reads a hexadecimal number and the character after it.
std::uint64_t read_number(Maps& maps, char& after) {
  std::uint64_t number = 0;
  for (after = maps.next();; after = maps.next()) {
    if (after >= '0' && after <= '9')
      number = number << 4 | static_cast<unsigned>(after - '0');
    else if (after >= 'a' && after <= 'f')
      number = number << 4 | static_cast<unsigned>(after - 'a' + 10);
    else
      return number;
  }
}

// Reads the rest of a line from its path on. Returns the path's length; 0: there is none, or not
// enough room for it. The kernel writes an end of line in a path as \012.
std::size_t read_path(Maps& maps, char* room) {
  static constexpr char kEnd[] = "\\012";
  constexpr std::size_t kLength = sizeof kEnd - 1;
  std::size_t length = 0;
  bool is_path = false, fits = true;
  for (char c = maps.next(); c != 0 && c != '\n'; c = maps.next()) {
    is_path = is_path || c == '/';
    if (!is_path) continue;
    fits = fits && length < kPathBytes - 1;
    if (fits) room[length++] = c;
    if (length >= kLength && std::memcmp(room + length - kLength, kEnd, kLength) == 0)
      room[(length -= kLength - 1) - 1] = '\n';
  }
  room[fits ? length : 0] = 0;
  return fits ? length : 0;
}

}  // namespace

void take_off_removed(char* path, std::size_t length) {
  static constexpr char kRemoved[] = " (deleted)";  // proc_pid_exe(5), proc_pid_maps(5)
  constexpr std::size_t kLength = sizeof kRemoved - 1;
  if (length <= kLength || std::strcmp(path + length - kLength, kRemoved) != 0) return;
  // A file that exists may have a name that ends so.
  char first = 0;
  if (raw_syscall(SYS_readlink, arg(path), arg(&first), 1) == -ENOENT) path[length - kLength] = 0;
}

namespace {

bool find_path(std::uint64_t address, char* room) {
  Maps maps;
  for (char after = 1; after != 0;) {
    const std::uint64_t begin = read_number(maps, after);
    if (after != '-') return false;
    const std::uint64_t end = read_number(maps, after);
    const std::size_t length = read_path(maps, room);
    if (address < begin || address >= end) continue;
    take_off_removed(room, length);
    return length != 0;
  }
  return false;
}

}  // namespace

bool path_of_mapping(std::uint64_t address, char* room) {
  bool is_found = false;
  with_own_descriptors([&] { is_found = find_path(address, room); });
  return is_found;
}

const char* file_path(const LoadObject& object, char* room) {
  if (object.path[0] == '/' || object.path[0] == '[') return object.path;
  return path_of_mapping(object.begin, room) ? room : object.path;
}

}  // namespace gnomon::collector
