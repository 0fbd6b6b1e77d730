// A file of an experiment that stays open while it is recorded. A file that is opened for each use
// has the lowest free number for a moment: the program may rely on that number, or close it.
// Any context; raw system calls.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace gnomon::collector {

struct Inode {
  dev_t device;
  ino_t file;

  bool operator==(const Inode& other) const { return device == other.device && file == other.file; }
};
// Returns false if the descriptor is not open. is_removed: the file has no name any more.
bool identify(int descriptor, Inode& found, bool& is_removed);
// Returns true if the descriptor is of that file, and the file has a name.
bool is_there(int descriptor, const Inode& file);

// Where the program has too few descriptors for a move: a file that can be opened anew is closed.
enum class IfFew { close, keep };

// Lives in zeroed memory that a fork child sees zeroed: all-zero holds nothing.
class HeldFile {
 public:
  // Takes over `descriptor`, which was opened as this file, and moves it to a number that the
  // program does not get. That lies above the limit of descriptors if it can be raised for a
  // moment, else just below. Returns 0, or errno with the descriptor closed. EBADF: the number has
  // become another file's meanwhile, which stays open.
  int hold(int descriptor, const Inode& file, IfFew if_few = IfFew::close);
  // Returns -1 if nothing is held, if the program has closed the descriptor or uses its number, and
  // if the file has been removed.
  int descriptor() const;
  // Returns true if this is the held descriptor's number.
  bool is(int descriptor) const { return is_held_ != 0 && descriptor_ == descriptor; }
  void close();

 private:
  mutable std::uint32_t is_held_;
  int descriptor_;
  Inode identity_;
};

// To be registered by pthread_atfork(3). In the child the files that the parent holds are closed.
void before_fork();
void after_fork();
void after_fork_in_child();

}  // namespace gnomon::collector
