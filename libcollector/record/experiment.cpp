// The directory of an experiment, and the recorder that writes to it. Normal context.
#include "libcollector/record/experiment.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libcollector/core/syscall.h"
#include "libcollector/format/names.h"

namespace gnomon::collector {
namespace {

using Path = char[ExperimentDirectory::kPathBytes];

// Writes ".N.er", or ".er" for the number 0.
void write_ending(unsigned number, char* at) {
  char digits[8];
  std::size_t count = 0;
  for (unsigned rest = number; rest > 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  if (count > 0) *at++ = '.';
  while (count > 0) *at++ = digits[--count];
  std::memcpy(at, ".er", 4);
}

// Makes stem.N.er with the first free N from `first` on; mkdir decides, so that two programs never
// share one. Returns 0 or errno.
int make_directory(const char* stem_path, unsigned first, Path& directory) {
  const std::size_t stem = std::strlen(stem_path);
  if (stem + 16 >= sizeof directory) return ENAMETOOLONG;
  std::memcpy(directory, stem_path, stem);
  for (unsigned n = first; n < 1'000'000; ++n) {
    write_ending(n, directory + stem);
    if (mkdir(directory, 0700) == 0) return 0;
    if (errno != EEXIST) return errno;
  }
  return EEXIST;
}

// Returns null and sets errno on failure.
Recorder* new_recorder() {
  void* memory =
      mmap(nullptr, sizeof(Recorder), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (madvise(memory, sizeof(Recorder), MADV_WIPEONFORK) == 0)
    return static_cast<Recorder*>(memory);
  const int error = errno;
  munmap(memory, sizeof(Recorder));
  errno = error;
  return nullptr;
}

// Returns the recorder of the experiment before the last, because late threads may still use the
// last one's. A recorder that was not closed completely is left to the thread that keeps it open.
// Returns null and sets errno on failure.
Recorder* free_recorder() {
  constinit static Recorder* kept[2] = {};
  constinit static unsigned turn = 0;
  Recorder*& mine = kept[turn];
  turn ^= 1;
  if (!mine || !mine->is_free()) mine = new_recorder();
  return mine;
}

}  // namespace

void remove_experiment(const Recorder& begun) {
  for (const char* name : {format::kControlFile, format::kHeaderFile, format::kNewHeaderFile})
    begun.directory().remove_file(name);
  if (*begun.directory().path()) rmdir(begun.directory().path());
}

Recorder* open_experiment(const Settings& settings, std::uint32_t pid, int& error) {
  static Path directory;  // too large for a stack that may be small
  if (settings.handed < 0)
    if (error = make_directory(settings.stem,
                               static_cast<unsigned>(settings.values[format::Setting::number]),
                               directory);
        error != 0)
      return nullptr;
  Recorder* recorder = free_recorder();
  if (recorder)
    error = settings.handed < 0 ? recorder->directory().open_path(directory)
                                : recorder->directory().take(settings.handed);
  else
    error = errno;
  if (recorder && error == 0) {
    constinit static std::uint32_t recordings = 0;
    const Range opened = recorder->open(settings.session, pid, ++recordings);
    if (opened.at) return recorder;
    error = opened.error;
    remove_experiment(*recorder);
    recorder->directory().give_back();
  } else if (settings.handed < 0) {
    rmdir(directory);
  } else if (!recorder) {
    raw_syscall(SYS_close, settings.handed);
  }
  return nullptr;
}

}  // namespace gnomon::collector
