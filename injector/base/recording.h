// Recordings that go on in processes, seen from outside: their control pages. Any thread.
#pragma once
#include <sys/mman.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "injector/base/settings.h"
#include "libcollector/format/control.h"
#include "reader/base/result.h"

namespace gnomon::injector {

struct UnmapControl {
  void operator()(format::ControlPage* page) const { munmap(page, format::kControlBytes); }
};
using MappedControl = std::unique_ptr<format::ControlPage, UnmapControl>;

// Returns true if a collector writes to the experiment of that page, or was told to, and nobody has
// told it to end.
bool records(const format::ControlPage& page);

struct Found {
  std::string experiment;  // its directory
  MappedControl page;      // null: there is none
};
// Returns an experiment of process `pid` below `stem` (/directory/test of test.N.er), whatever the
// state of its recording.
Found find_experiment(const std::string& stem, std::uint64_t session, pid_t pid);
// Returns the experiment to which the collector in process `pid` records now for this session.
Found find_recording(const std::string& stem, std::uint64_t session, pid_t pid);

// True while the collector in process `pid` records for this session.
bool is_recording(const std::string& stem, std::uint64_t session, pid_t pid);
// Has the last sample taken and tells the collector to record no more: it stops at once, and closes
// the experiment when the process next runs. Returns false if it does not record.
bool ask_to_end(const std::string& stem, std::uint64_t session, pid_t pid);
// The same of a recording whose files may have been removed.
void ask_to_end(format::ControlPage& page);

// Of a process that has ended, or executed another program, while recording began: `why` it is not
// recorded, and which experiment of this session holds something. One that holds nothing is
// removed.
Fault with_left_behind(const Fault& why, const Settings& settings, pid_t pid);

// What a process is recorded by, whoever began that.
struct Recording {
  std::string experiment;  // its directory, as it can be opened from here
  std::string stem;
  std::uint64_t session = 0;
};
// Returns the recording that goes on in the process.
std::optional<Recording> recording_in(pid_t pid);
// Returns the recording that goes on in the process, or that its collector has set up and not
// begun.
std::optional<Recording> open_recording_in(pid_t pid);
// A recording of the process that has failed: the collector's hooks and handler are still in it.
std::optional<Recording> failed_recording_in(pid_t pid);

}  // namespace gnomon::injector
