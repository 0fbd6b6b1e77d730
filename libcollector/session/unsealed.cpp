// Recordings that have ended while threads were in traced calls. Normal context.
#include "libcollector/session/unsealed.h"

#include "libcollector/core/atomic.h"
#include "libcollector/trace/trace.h"

namespace gnomon::collector {
namespace {

constinit Recorder* unsealed[8] = {};  // of memory that a fork child sees zeroed

}  // namespace

bool write_out_traced(Recorder& of) {
  const Kept kept = end_tracing(of);
  atomic(of.control()->kept_threads).store(kept.threads);
  atomic(of.control()->kept_events).store(kept.events);
  return kept.threads == 0 && kept.is_written;
}

void keep_unsealed(Recorder& of) {
  for (Recorder*& place : unsealed)
    if (!place) {
      place = &of;
      return;
    }
  of.directory().give_back();  // no place: never sealed
}

void seal_earlier() {
  for (Recorder*& place : unsealed) {
    if (!place || !place->control()) continue;
    if (write_out_traced(*place)) place->finish();
    if (!place->is_free()) continue;
    place->directory().give_back();
    place = nullptr;
  }
}

bool has_unsealed() {
  for (const Recorder* each : unsealed)
    if (each) return true;
  return false;
}

void leave_unsealed() {
  for (Recorder*& place : unsealed) {
    if (place) place->directory().give_back();
    place = nullptr;
  }
}

Kept kept_back() {
  Kept kept;
  for (const Recorder* each : unsealed)
    if (each && each->control()) {
      kept.threads += each->control()->kept_threads;
      kept.events += each->control()->kept_events;
    }
  return kept;
}

}  // namespace gnomon::collector
