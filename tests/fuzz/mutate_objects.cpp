// Damages copies of ELF files and reads their symbols and unwind tables: none may crash, hang or
// fill the memory.
//   mutate_objects SCRATCH COUNT RANDOM FILE...
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/fuzz/experiment_files.h"
#include "tests/fuzz/object.h"
#include "tests/fuzz/trials.h"
#include "tests/fuzz/tried.h"

namespace {

using namespace gnomon::fuzz;

// Damage of the headers tells a reader more than that of code does.
void damage_object(std::string& bytes, std::mt19937_64& random) {
  Files files{{"whole", bytes}};
  if (random() % 2 == 0) {
    damage(files, {}, random);
  } else {
    const std::size_t size = std::min<std::size_t>(bytes.size(), random() % 2 == 0 ? 1024 : 65536);
    const std::size_t from = random() % 2 == 0 ? 0 : bytes.size() - size;
    Files part{{"part", bytes.substr(from, size)}};
    damage(part, {}, random);
    if (!part.empty()) files["whole"].replace(from, size, part.begin()->second);
  }
  bytes = files.empty() ? "" : files.begin()->second;
}

}  // namespace

int main(int argc, char** argv) {
  const auto trials = Trials::parse(argc, argv);
  if (!trials) return 2;
  return trials->run("ELF files", [&](std::mt19937_64& random) {
    const std::string& path = trials->files[random() % trials->files.size()];
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (std::uint64_t left = 1 + random() % 8; left > 0; --left) damage_object(bytes, random);
    if (!write_files({{"object", bytes}}, trials->scratch))
      return std::pair(path, std::string("cannot write"));
    return std::pair(path, tried({}, [&] {
                       read_object(trials->scratch + "/object");
                       return std::string();
                     }));
  });
}
