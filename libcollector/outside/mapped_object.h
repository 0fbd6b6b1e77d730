// The file of a load object of another process, mapped as the loader has mapped it there. In
// gnomon-sampler.
#pragma once
#include <link.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcollector/objects/load_object.h"

namespace gnomon::outside {

// Somebody may cut a file short while it is mapped here: from here on what is missing then reads as
// zero, and does not end this program (SIGBUS).
void survive_cut_files();

class MappedObject {
 public:
  // file: a descriptor of the file, which stays the caller's. path: for those who ask. Returns null
  // if that is no ELF file of this machine's kind.
  static std::unique_ptr<MappedObject> open(int file, const std::string& path);
  // The kernel's own object, which is the same in every process.
  static std::unique_ptr<MappedObject> vdso();
  ~MappedObject();
  MappedObject(const MappedObject&) = delete;

  // Returns the object with the addresses that its bytes have in this program, not in the process,
  // and with the path that open() was given.
  const collector::LoadObject& here() const { return here_; }
  // Returns the bias in a process where the part from `offset` of the file on is mapped as code at
  // `begin`; nothing if no such part is code.
  std::optional<std::uint64_t> bias_of(std::uint64_t begin, std::uint64_t offset) const;
  // Returns the bias in a process where the part from `offset` of the file on is mapped at `begin`,
  // and all of `code` is the object's code; nothing if it is not.
  std::optional<std::uint64_t> bias_around(std::uint64_t begin, std::uint64_t offset,
                                           const collector::ByteRange& code) const;

 private:
  MappedObject() = default;
  bool map(int file);
  void describe();

  std::string path_;
  std::vector<ElfW(Phdr)> headers_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  collector::LoadObject here_{};
};

}  // namespace gnomon::outside
