// The build-id of a load object. Any context.
#pragma once
#include "libcollector/objects/load_object.h"

namespace gnomon::collector {

struct BuildId {
  const unsigned char* data = nullptr;  // in the mapped object
  std::size_t size = 0;                 // 0: the object has none
};

BuildId build_id_of(const LoadObject& object);

}  // namespace gnomon::collector
