// What identifies the file of a load object that has no build-id. Any context.
#pragma once
#include <cstdint>

#include "libcollector/objects/load_object.h"

namespace gnomon::collector {

struct FileIdentity {
  std::uint64_t bytes = 0;     // size of the file; 0: not known
  std::uint64_t modified = 0;  // time of its last change, ns since 1970
  std::uint64_t layout = 0;    // format/layout.h; 0: not known
};
// Takes size and time from the file at `path`, and the layout from memory.
FileIdentity identity_of_file(const LoadObject& object, const char* path);

}  // namespace gnomon::collector
