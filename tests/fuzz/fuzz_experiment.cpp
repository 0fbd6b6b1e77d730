// libFuzzer: the input is an experiment's files, each as its name, its size and its bytes.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/fuzz/all_reports.h"
#include "tests/fuzz/experiment_files.h"
#include "tests/fuzz/scratch.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace gnomon::fuzz;

// "NAME SIZE\n", then that many bytes.
std::string packed(const Files& files) {
  std::string all;
  for (const auto& [name, bytes] : files)
    all += name + " " + std::to_string(bytes.size()) + "\n" + bytes;
  return all;
}

Files unpacked(const std::string& all) {
  Files files;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at), blank = all.find(' ', at);
    if (end == std::string::npos || blank >= end) break;
    const std::string name = all.substr(at, blank - at);
    const std::size_t size = std::strtoull(all.c_str() + blank, nullptr, 10);
    if (name.empty() || name.size() > 64 ||
        name.find_first_of(std::string("/\0", 2)) != std::string::npos || name[0] == '.')
      break;
    files[name] = all.substr(end + 1, size);
    at = std::min(end + 1 + size, all.size());
  }
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  const Files files = unpacked({reinterpret_cast<const char*>(data), size});
  if (!files.empty() && write_files(files, scratch.path())) all_reports(scratch.path());
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937_64 random(seed);
  Files files = unpacked({reinterpret_cast<const char*>(data), size});
  if (files.empty()) return LLVMFuzzerMutate(data, size, most);
  if (random() % 4 == 0) {
    auto file = files.begin();
    std::advance(file, random() % files.size());
    std::string& bytes = file->second;
    const std::size_t before = bytes.size(), room = before + 4096;
    bytes.resize(room);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), before, room));
  } else {
    damage(files, {}, random);
  }
  if (random() % 8 != 0) mend_checks(files);
  const std::string all = packed(files);
  if (all.size() > most) return size;
  std::memcpy(data, all.data(), all.size());
  return all.size();
}
