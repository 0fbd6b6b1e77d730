// The directory of an experiment, as the recorded process reaches it: by path, or by a descriptor
// that was handed to it. The program may close that descriptor or reuse its number, and another
// directory may come to lie at the path, so the directory's identity is compared before each use.
// Any context; raw system calls.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace gnomon::collector {

// Lives in zeroed memory that a fork child sees zeroed: all-zero is no directory.
class ExperimentDirectory {
 public:
  static constexpr std::uint32_t kPathBytes = 4096;

  // Uses the directory at `path`, which the caller has just made. Returns 0 or errno.
  int open_path(const char* path);
  // Takes `descriptor` over; it may be one of O_PATH. Returns 0 or errno.
  int take(int descriptor);
  // Closes the descriptor that was handed over, if there is one. From here on nothing can be opened
  // by it.
  void give_back();

  // Opens `name` in the directory with these flags of open(2); O_CLOEXEC and O_NOFOLLOW are added,
  // and a file that is created is the owner's alone. Returns a descriptor or -errno: -ESTALE if the
  // directory is not there any more. Waits up to 30 ms for others to close descriptors where the
  // limit of them is reached.
  int open_file(const char* name, int flags) const;
  // Both return 0 or -errno.
  int rename_file(const char* from, const char* to) const;
  int remove_file(const char* name) const;

  // As it was given; empty: handed over as a descriptor.
  const char* path() const { return path_; }

 private:
  struct Identity {
    dev_t device;
    ino_t file;
  };
  // A descriptor of the directory; close it by `close_unless_handed`. -errno on failure.
  int open_itself() const;
  void close_unless_handed(int descriptor) const;
  int try_to_open(const char* name, int flags) const;
  static bool identify(int descriptor, Identity& found);

  std::uint32_t is_handed_;
  int handed_;
  Identity identity_;
  char path_[kPathBytes];
};

}  // namespace gnomon::collector
