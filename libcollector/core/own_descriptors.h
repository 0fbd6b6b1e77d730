// Opens files where the program cannot meet their descriptors: in a thread that has a table of
// descriptors of its own, and ends at once. What it maps stays. Any context; raw system calls.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// On: the process is a program that runs, so that others of its threads may open, close and count
// descriptors, and no filter restricts its system calls. Off, as at first and in processes of our
// own, with_own_descriptors() only calls.
void keep_descriptors_apart(bool on);

void run_with_own_descriptors(void (*work)(void*), void* data, int keep);

// Calls work(), which opens and closes files, in a thread that has no other descriptors than
// `keep`, if that is not negative. The calling thread waits until the new one is gone, with all
// signals blocked. work() sees the caller's memory, thread-local variables and stack; gettid(2)
// gives another number. Takes about 60 us, and on busy CPUs as long as a new thread waits for one:
// a millisecond in the mean, 16 were seen. Where no thread can be made, and within another work(),
// the calling thread itself calls work().
template <typename Work>
void with_own_descriptors(Work&& work, int keep = -1) {
  run_with_own_descriptors([](void* data) { (*static_cast<Work*>(data))(); }, &work, keep);
}

// Returns true in work() if that runs in another thread than its caller.
bool has_own_descriptors();
// The number of the calling thread; in work(), of the thread that waits for that.
std::uint32_t program_thread();

}  // namespace gnomon::collector
