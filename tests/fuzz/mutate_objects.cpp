// Damages copies of ELF files and reads their symbols and unwind tables: none may crash, hang or
// fill the memory.
//   mutate_objects SCRATCH COUNT RANDOM FILE...
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/fuzz/experiment_files.h"
#include "tests/fuzz/object.h"
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
  if (argc < 5) return std::fputs("SCRATCH COUNT RANDOM FILE...\n", stderr), 2;
  const std::string scratch = argv[1];
  const int count = std::atoi(argv[2]);
  const auto first = static_cast<std::uint64_t>(std::atoll(argv[3]));
  int wrong = 0;
  for (int number = 0; number < count; ++number) {
    std::mt19937_64 random(first + static_cast<std::uint64_t>(number));
    const std::string path = argv[4 + random() % static_cast<std::uint64_t>(argc - 4)];
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (std::uint64_t left = 1 + random() % 8; left > 0; --left) damage_object(bytes, random);
    if (!write_files({{"object", bytes}}, scratch)) return std::fputs("cannot write\n", stderr), 2;
    const std::string said = tried({}, [&] {
      read_object(scratch + "/object");
      return std::string();
    });
    if (said.empty()) continue;
    ++wrong;
    fmt::print("{} {}: {}\n", first + static_cast<std::uint64_t>(number), path, said);
    std::fflush(stdout);
  }
  fmt::print("{} damaged ELF files, {} wrong\n", count, wrong);
  return wrong == 0 ? 0 : 1;
}
