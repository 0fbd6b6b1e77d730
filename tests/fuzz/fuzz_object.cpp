// libFuzzer: the input is an ELF file.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/experiment_files.h"
#include "tests/fuzz/object.h"
#include "tests/fuzz/scratch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gnomon::fuzz;
  static const Scratch scratch;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (write_files({{"object", bytes}}, scratch.path())) read_object(scratch.path() + "/object");
  return 0;
}
