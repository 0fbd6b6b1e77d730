// Reads pieces of a file into memory of its own. Any thread.
#include "reader/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gnomon::reader {

Result<File> File::open(const std::string& path) {
  File file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const int error = errno;
  if (file.descriptor_ < 0)
    return fault("cannot open " + path + ": " + std::strerror(error),
                 error == EACCES ? "read it as the user who recorded it, or as root" : "");
  struct stat info {};
  if (fstat(file.descriptor_, &info) != 0 || !S_ISREG(info.st_mode))
    return fault(path + " is not a regular file");
  return file;
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::uint64_t File::size() const {
  struct stat info {};
  return fstat(descriptor_, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::uint64_t File::bytes_on_disk() const {
  struct stat info {};
  return fstat(descriptor_, &info) == 0 ? static_cast<std::uint64_t>(info.st_blocks) * 512 : 0;
}

Result<std::size_t> File::read(std::uint64_t offset, std::span<std::byte> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t n =
        pread(descriptor_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fault("cannot read " + path_ + ": " + std::strerror(errno));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

Result<std::string> read_text(const std::string& path) {
  constexpr std::uint64_t kMost = 16 << 20;
  auto file = File::open(path);
  if (!file) return tl::unexpected(file.error());
  const std::uint64_t size = file->size();
  if (size > kMost) return fault(path + " is larger than 16 MiB");
  std::string text(size, '\0');
  const auto read = file->read(0, std::as_writable_bytes(std::span(text)));
  if (!read) return tl::unexpected(read.error());
  text.resize(*read);
  return text;
}

bool is_missing(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) != 0 && errno == ENOENT;
}

}  // namespace gnomon::reader
