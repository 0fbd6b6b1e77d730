// The directory of an experiment, as the recorded process reaches it: by a descriptor that is held,
// and by its path. The program may close that descriptor or reuse its number, and another directory
// may come to lie at the path, so the directory's identity is compared before each use.
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

  // Both do nothing if that is held already, and leave it to be opened for each use if they fail.
  void hold_itself();
  // Opens `name`, creates it if it is missing, and holds it, so that each OpenFile of that name
  // uses this descriptor. flags: all that users of this name want.
  void hold(const char* name, int flags);
  // Returns a descriptor for the caller alone, or -errno; otherwise as OpenFile does. Waits up to
  // 30 ms for others to close descriptors where the limit of them is reached.
  int open_file(const char* name, int flags) const;
  // Both return 0 or -errno.
  int rename_file(const char* from, const char* to) const;
  int remove_file(const char* name) const;

  // As it was given; empty: handed over as a descriptor.
  const char* path() const { return path_; }

 private:
  friend class OpenFile;
  struct Named {
    const char* name;
    HeldFile file;
  };
  static constexpr std::uint32_t kHeldFiles = 12;

  // Returns -1 if the file is not held.
  int held(const char* name) const;
  bool identify_file(const char* name, Inode& found) const;
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

// A file of the directory, open for as long as this lives.
class OpenFile {
 public:
  // Opens `name` with these flags of open(2); O_CLOEXEC and O_NOFOLLOW are added, and a file that
  // is created is the owner's alone.
  OpenFile(const ExperimentDirectory& directory, const char* name, int flags);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // -errno on failure: -ESTALE if the directory is not there any more.
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  bool is_held_;
};

}  // namespace gnomon::collector
