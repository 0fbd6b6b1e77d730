// gnomon-sampler, the process beside a recording: starting it and asking it for something. Any
// thread.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

#include "injector/settings.h"
#include "libcollector/format/control.h"
#include "libcollector/format/overview.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Starts it for the recording of process `pid`, which has begun, and waits until it watches. Fault:
// samples are missing from the experiment; the recording itself goes on.
Result<void> start_sampler(const Settings& settings, const std::string& experiment, pid_t pid);

// A line for the user about that fault; "" if there is none.
std::string sampler_note(const Result<void>& started);

// Asks for a sample and waits until it is taken, a second at most. Returns false if there is no
// answer. label: what is longer than kLabelBytes - 1 is cut.
bool ask_for_sample(format::ControlPage& page, format::Verb verb, format::SampleEvent event,
                    std::string_view label = {});

}  // namespace gnomon::injector
