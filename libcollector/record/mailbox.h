// Asking gnomon-sampler for a sample from within the recorded program, and pausing. Any context,
// signal handlers too.
#pragma once
#include "libcollector/format/control.h"
#include "libcollector/format/overview.h"

namespace gnomon::collector {

// Asks for a sample without a label and does not wait for it. Returns false if the mailbox is in
// use.
bool post_sample(format::ControlPage& page, format::SampleEvent event);

// For gnomon-sampler. Copies the request that waits to be carried out, and returns its number.
// Returns 0 if none has come after number `seen`, or if another request takes its place just now.
std::uint32_t take_request(format::Mailbox& box, std::uint32_t seen, format::Mailbox& request);

// Pauses or resumes the recording of events. Returns false if nothing changes: it is so already,
// the recording has ended or was told to, or the size limit was reached.
bool pause(format::ControlPage& page, format::PauseReason reason);
bool resume(format::ControlPage& page);

}  // namespace gnomon::collector
