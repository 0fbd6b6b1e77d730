// Names the collector, its launcher and the reader agree on: files and environment variables.
#pragma once

namespace gnomon::format {

inline constexpr const char* kHeaderFile = "header.json";
inline constexpr const char* kNewHeaderFile = "header.json.new";  // until it is whole
inline constexpr const char* kLogFile = "log.jsonl";
// Events of the log that readers look for, and members of them.
inline constexpr const char* kLogStop = "stop";  // the debugger stopped the program for its user
inline constexpr const char* kLogReason = "reason";
inline constexpr const char* kLogPause = "pause";
inline constexpr const char* kLogResume = "resume";
inline constexpr const char* kLogAttach = "attach";
inline constexpr const char* kLogDuration = "duration over";
inline constexpr const char* kLogProcessEnded = "process ended";
inline constexpr const char* kLogClock = "clock";        // why the kernel is not the clock
inline constexpr const char* kLogWaiting = "waiting";    // why switches of threads are not told
inline constexpr const char* kLogCounters = "counters";  // why events are not counted
inline constexpr const char* kNotesFile = "notes";       // text of the user's; may be missing
inline constexpr const char* kMapFile = "map.jsonl";
inline constexpr const char* kControlFile = "control";
inline constexpr const char* kStacksFile = "stacks";
inline constexpr const char* kKernelFile = "kernel.jsonl";      // its functions in call stacks
inline constexpr const char* kCountersFile = "counters.jsonl";  // see outside/counting.h
inline constexpr const char* kWatchesFile = "watches.jsonl";    // likewise
// The name of threads that the collector makes to open files, see core/own_descriptors.h.
inline constexpr const char* kFilesThread = "gnomon-files";
// Gone once the recording has ended in order.
inline constexpr const char* kLanesFile = "lanes";
inline constexpr const char* kEndedFile = "ended";    // see EndedThread
inline constexpr const char* kPlacesFile = "places";  // see KernelPlaces
inline constexpr const char* kWaitsFile = "waits";    // see LongWaits

// `gnomon-sampler --probe PID SETTINGS` says why the kernel would not be that process's clock;
// kUserTime: it would show user time alone; nothing: it would.
inline constexpr const char* kProbe = "--probe";
inline constexpr const char* kUserTime = "user time";
// `gnomon-sampler --alone PID SESSION SETTINGS STEM WHY 0|1 EXECUTABLE COUNTERS WORD...` records a
// process in which no collector is, because of WHY; 1: from its execution of the program on. It
// says which experiment it writes.
inline constexpr const char* kAlone = "--alone";
// What gnomon-sampler says before the reason if it runs without the kernel's clock.
inline constexpr const char* kClockRefused = "clock: ";

// What ticks, in the header.
inline constexpr const char* kThreadCpuTimer = "thread CPU timer";  // at the kernel's ticks
inline constexpr const char* kTaskClockEvent = "task-clock event";  // at any time

// The launch environment. The library removes all of it before the program sees it.
inline constexpr const char* kEnvLibrary = "GNOMON_LIBRARY";    // our entries in LD_PRELOAD
inline constexpr const char* kEnvTarget = "GNOMON_TARGET";      // /proc/self/exe of the program
inline constexpr const char* kEnvSession = "GNOMON_SESSION";    // hexadecimal, not 0
inline constexpr const char* kEnvStem = "GNOMON_STEM";          // /directory/test of test.N.er
inline constexpr const char* kEnvSettings = "GNOMON_SETTINGS";  // see settings.h

}  // namespace gnomon::format
