// The instants of a recording that have a name: samples and stops. Any thread, one at a time.
#pragma once
#include <string>

#include "reader/samples/log.h"
#include "reader/samples/samples.h"

namespace gnomon::reader {

struct Instants {
  Samples samples;
  Log log;

  // Reads what was added since the last call.
  void read_new(const Experiment& experiment) {
    samples.read_new(experiment);
    log.read_new(experiment);
  }
};

}  // namespace gnomon::reader
