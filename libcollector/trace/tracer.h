// The tracers of format/tracers.h at the beginning of a recording. Normal context.
#pragma once
#include <cstdint>

#include "libcollector/format/tracers.h"
#include "libcollector/record/recorder.h"

namespace gnomon::collector {

struct TracerBegin {
  format::Tracer tracer;
  // setting: its value; 0: it is off.
  void (*begin)(std::uint64_t setting, Recorder& to);
};

// Has begin_tracing() call `function` for that tracer.
#define GNOMON_TRACER(tracer, function)                                    \
  [[gnu::section("gnomon_tracers"),                                        \
    gnu::used]] const ::gnomon::collector::TracerBegin begin_of_##tracer { \
    ::gnomon::format::Tracer::tracer, function                             \
  }

}  // namespace gnomon::collector
