// Keeps load objects from being unloaded while the unwinder reads those that the interrupted code
// may never have called. Any context; no lock.
#pragma once

namespace gnomon::collector {

// From hold() until its end no object is unloaded by dlclose(3).
class LoadedHold {
 public:
  LoadedHold() = default;
  ~LoadedHold();
  LoadedHold(const LoadedHold&) = delete;
  LoadedHold& operator=(const LoadedHold&) = delete;

  // Returns false if a thread is unloading an object now.
  bool hold();

 private:
  bool held_ = false;
};

// The caller unloads objects during its lifetime. It begins when nobody holds them, or after a
// tenth of a second. Normal context.
class Unloading {
 public:
  Unloading();
  ~Unloading();
  Unloading(const Unloading&) = delete;
  Unloading& operator=(const Unloading&) = delete;
};

}  // namespace gnomon::collector
