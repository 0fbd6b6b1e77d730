// A file mapped for reading, as long as it was when it was opened. Any thread.
#include "reader/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gnomon::reader {

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fault("cannot open " + path + ": " + std::strerror(errno));
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return fault(path + " is not a regular file");
  }
  MappedFile file;
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > 0) {
    void* at = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    const int error = errno;
    if (at == MAP_FAILED) {
      close(fd);
      return fault("cannot map " + path + ": " + std::strerror(error));
    }
    file.bytes_ = {static_cast<const std::byte*>(at), size};
  }
  close(fd);
  return file;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<std::string> read_text(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto bytes = file->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace gnomon::reader
