// gnomon-sampler, the process beside a recording: starting it and asking it for something. Any
// thread.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "injector/base/clock_choice.h"
#include "injector/base/settings.h"
#include "libcollector/format/control.h"
#include "libcollector/format/overview.h"
#include "libcollector/format/watches.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Runs a program of that folder and returns what it says, which is short. words: those behind its
// name.
Result<std::string> run_beside(const std::string& folder, const std::string& name,
                               std::vector<std::string> words);
// Runs gnomon-sampler and returns what it says, which is short; it, or a child of it, may run on.
// words: those behind its name.
Result<std::string> run_sampler(const Settings& settings, std::vector<std::string> words);

// Writes the experiment's notes and joins the group. Returns what failed of that, a line each.
std::string note_experiment(const Settings& settings, const std::string& experiment);

// What is to be done once the recording of process `pid` has begun: writes the notes, joins the
// group and starts gnomon-sampler, and waits until it watches. Returns what failed of that, a line
// each, "" if nothing did: the recording itself goes on.
std::string follow_recording(const Settings& settings, const std::string& experiment, pid_t pid,
                             OtherClock other);

// Asks for a sample and waits until it is taken, a second at most. Returns false if there is no
// answer. label: what is longer than kLabelBytes - 1 is cut.
bool ask_for_sample(format::ControlPage& page, format::Verb verb, format::SampleEvent event,
                    std::string_view label = {});

// Why gnomon-sampler does not do what it is to, a clause; "" if it seems to be at work.
std::string sampler_trouble(const format::ControlPage& page);

// Has the clock's samples recorded that the kernel has taken until now, where gnomon-sampler is the
// clock. Returns false if there is no answer.
bool record_rings(format::ControlPage& page);

// Asks for a watch to begin, or to end. A fault says why not.
Result<format::WatchBegun> ask_to_watch(format::ControlPage& page, const format::Watch& watch);
Result<void> ask_to_unwatch(format::ControlPage& page, std::uint32_t number);

// Pauses the recording of events, or resumes it; a sample is taken before or after. Returns false
// if nothing changes: it is so already, the recording has ended, or the size limit was reached.
// Fault: it is done, but the log could not be written.
Result<bool> pause(const std::string& experiment, format::ControlPage& page);
Result<bool> resume(const std::string& experiment, format::ControlPage& page);

}  // namespace gnomon::injector
