// PAPI's presets. In gnomon-counters: PAPI comes into no other program.
#include <papi.h>

#include "libcollector/counters/known.h"

namespace gnomon::counters {

// PAPI lists presets that no processor here counts: each is to be tried.
std::vector<Known> presets() {
  std::vector<Known> found;
  if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) return found;
  int event = 0 | PAPI_PRESET_MASK;
  if (PAPI_enum_event(&event, PAPI_ENUM_FIRST) != PAPI_OK) return found;
  do {
    PAPI_event_info_t info{};
    if (PAPI_get_event_info(event, &info) != PAPI_OK || info.count != 1) continue;
    Known known;
    Definition native;
    native.name = info.name[0];
    if (!encode(native, known.counter).what.empty()) continue;
    known.counter.name = info.symbol;
    known.counter.title = info.long_descr;
    known.alias_of = native.name;
    found.push_back(std::move(known));
  } while (PAPI_enum_event(&event, PAPI_PRESET_ENUM_AVAIL) == PAPI_OK);
  PAPI_shutdown();
  return found;
}

}  // namespace gnomon::counters
