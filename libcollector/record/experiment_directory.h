// The directory of an experiment, as the recorded process reaches it: by a held descriptor, else by
// the path. The program may close that descriptor, and another directory may come to the path, so
// the directory's identity is compared before each use.
// Any context; raw system calls.
#pragma once
#include <cstdint>

#include "libcollector/record/held_file.h"

namespace gnomon::collector {

// Lives in zeroed memory that a fork child sees zeroed: all-zero is no directory.
class ExperimentDirectory {
 public:
  static constexpr std::uint32_t kPathBytes = 4096;

  // Uses the directory at `path`, which the caller has just made. Returns 0 or errno.
  int open_path(const char* path);
  // Takes `descriptor` over; it may be one of O_PATH. Returns 0 or errno.
  int take(int descriptor);
  // Closes all that is held. After take() nothing can be opened from here on.
  void give_back();

  // Holds the directory. Like hold(), it does nothing if that is held already; on failure it is
  // opened for each use.
  void hold_itself();
  // Opens `name`, creates it if it is missing, and holds it. flags: of open(2), all that users of
  // this name want.
  void hold(const char* name, int flags);
  // Returns a descriptor of the file that is held, or -1.
  int held(const char* name) const;
  // Opens `name` with these flags of open(2), for the caller alone. O_CLOEXEC and O_NOFOLLOW are
  // added, and a file that is created is the owner's alone. Returns a descriptor or -errno: -ESTALE
  // if the directory is not there any more. Waits up to 30 ms for others to close descriptors where
  // the limit of them is reached. To be called where the program does not meet the descriptor, see
  // core/own_descriptors.h.
  int open_file(const char* name, int flags) const;
  // Both return 0 or -errno.
  int rename_file(const char* from, const char* to) const;
  int remove_file(const char* name) const;

  // As it was given; empty: handed over as a descriptor.
  const char* path() const { return path_; }
  // The descriptor that was handed over, without which nothing can be opened; -1: there is none.
  int handed() const { return path_[0] == 0 ? itself_.descriptor() : -1; }

 private:
  struct Named {
    const char* name;
    HeldFile file;
  };
  static constexpr std::uint32_t kHeldFiles = 12;

  bool identify_file(const char* name, Inode& found) const;
  // Calls use(descriptor of the directory). Returns what that returns, or -errno.
  template <typename Use>
  int with_itself(Use&& use) const;
  // A descriptor of the directory; close it by `close_unless_held`. -errno on failure.
  int open_itself() const;
  void close_unless_held(int descriptor) const;
  int try_to_open(const char* name, int flags) const;

  HeldFile itself_;
  Inode identity_;
  std::uint32_t held_count_;
  Named held_[kHeldFiles];
  char path_[kPathBytes];
};

}  // namespace gnomon::collector
