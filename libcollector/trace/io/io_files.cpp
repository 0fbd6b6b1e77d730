// What a program's descriptors stand for. In hooks: normal context, and signal handlers.
#include "libcollector/trace/io/io_files.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "libcollector/core/atomic.h"
#include "libcollector/core/syscall.h"
#include "libcollector/trace/tracer.h"

namespace gnomon::collector {
namespace {

constexpr std::uint32_t kDescriptors = 65'536, kPaths = 65'536;

// By descriptor: its file; 0: it was not looked at since it was opened.
constinit std::uint32_t files[kDescriptors] = {};
constinit std::uint32_t newest_file = 0;

// Paths that no descriptor stands for, by a hash: a program may look for one for ever.
struct KnownPath {
  std::uint64_t hash;
  std::uint32_t file;
};
constinit KnownPath known_paths[kPaths] = {};

std::uint32_t next_file() {
  return atomic(newest_file).fetch_add(1, std::memory_order_relaxed) + 1;
}

// Text in a buffer on the stack; what does not fit is left out.
template <std::size_t Bytes>
class Text {
 public:
  void add(const char* text) {
    while (*text && length_ + 1 < Bytes) text_[length_++] = *text++;
  }
  void add(std::uint64_t number) {
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0 && length_ + 1 < Bytes) text_[length_++] = digits[--count];
  }
  void add_hex(unsigned number) {
    constexpr char kDigits[] = "0123456789abcdef";
    char digits[5] = "";
    int at = 4;
    do digits[--at] = kDigits[number % 16];
    while ((number /= 16) != 0);
    add(digits + at);
  }
  bool read_link(const char* path) {
    const long length = raw_syscall(SYS_readlinkat, AT_FDCWD, arg(path), arg(text_), Bytes - 1);
    cut(length > 0 ? static_cast<std::size_t>(length) : 0);
    return length > 0;
  }
  void cut(std::size_t length) { text_[length_ = length] = '\0'; }
  const char* text() const { return text_; }
  std::size_t length() const { return length_; }

 private:
  char text_[Bytes] = "";
  std::size_t length_ = 0;
};
using Name = Text<1024>;

void record_name(TracedCall& traced, std::uint32_t file, int descriptor, const Name& name) {
  std::size_t at = 0;
  std::uint32_t part = 0;
  do {
    format::FileName record{};
    record.head.thread = traced.thread();
    record.head.time = time_before();
    record.head.cpu = format::kNoCpu;
    record.file = file;
    record.descriptor = descriptor;
    record.part = part++;
    const std::size_t bytes = std::min(sizeof record.text, name.length() - at);
    std::memcpy(record.text, name.text() + at, bytes);
    traced.put(format::kFileName, record);
    at += bytes;
  } while (at < name.length());
}

// "10.0.0.1:80", "[::1]:80", the path of a local socket.
void add_address(Name& name, const void* address, std::uint32_t bytes) {
  sockaddr_storage storage{};
  std::memcpy(&storage, address, std::min<std::size_t>(bytes, sizeof storage));
  if (storage.ss_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &storage, sizeof four);
    const auto* const byte = reinterpret_cast<const unsigned char*>(&four.sin_addr);
    for (int i = 0; i < 4; ++i) {
      if (i != 0) name.add(".");
      name.add(byte[i]);
    }
    name.add(":");
    name.add(ntohs(four.sin_port));
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &storage, sizeof six);
    name.add("[");
    for (std::size_t i = 0; i < 8; ++i) {
      if (i != 0) name.add(":");
      name.add_hex(static_cast<unsigned>(six.sin6_addr.s6_addr[2 * i] << 8 |
                                         six.sin6_addr.s6_addr[2 * i + 1]));
    }
    name.add("]:");
    name.add(ntohs(six.sin6_port));
  } else if (storage.ss_family == AF_UNIX) {
    sockaddr_un local{};
    std::memcpy(&local, &storage, sizeof local);
    local.sun_path[sizeof local.sun_path - 1] = '\0';
    const bool is_abstract = local.sun_path[0] == '\0' && bytes > sizeof(sa_family_t) + 1;
    if (is_abstract) name.add("@");
    name.add(local.sun_path + (is_abstract ? 1 : 0));
  }
}

// A socket is named by its peer, where it has one.
void name_descriptor(Name& name, int descriptor) {
  Text<32> place;
  place.add("/proc/self/fd/");
  place.add(static_cast<std::uint64_t>(descriptor));
  if (!name.read_link(place.text())) {
    name.add("descriptor ");
    name.add(static_cast<std::uint64_t>(descriptor));
  }
  if (std::strncmp(name.text(), "socket:", 7) != 0) return;
  sockaddr_storage peer{};
  std::uint32_t bytes = sizeof peer;
  if (raw_syscall(SYS_getpeername, descriptor, arg(&peer), arg(&bytes)) != 0) return;
  const std::size_t before = name.length();
  name.add(" to ");
  const std::size_t begin = name.length();
  add_address(name, &peer, bytes);
  if (name.length() == begin) name.cut(before);
}

std::uint32_t* slot_of(int descriptor) {
  return descriptor >= 0 && static_cast<std::uint32_t>(descriptor) < kDescriptors
             ? &files[descriptor]
             : nullptr;
}

}  // namespace

std::uint32_t file_of(TracedCall& traced, int descriptor) {
  std::uint32_t* const slot = slot_of(descriptor);
  if (!slot) return 0;
  const std::uint32_t known = atomic(*slot).load(std::memory_order_relaxed);
  if (known != 0) return known;
  const std::uint32_t file = next_file();
  std::uint32_t none = 0;
  if (!atomic(*slot).compare_exchange_strong(none, file)) return none;
  Name name;
  name_descriptor(name, descriptor);
  record_name(traced, file, descriptor, name);
  // A recording that has begun meanwhile knows no file by that number.
  if (!traced.is_recorded()) atomic(*slot).store(0);
  return file;
}

std::uint32_t known_file(int descriptor) {
  const std::uint32_t* const slot = slot_of(descriptor);
  return slot ? atomic(*slot).load(std::memory_order_relaxed) : 0;
}

std::uint32_t file_of_path(TracedCall& traced, const char* path) {
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char* at = path; *at; ++at)
    hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3ull;
  for (std::uint32_t i = 0; i < 8; ++i) {
    KnownPath& each = known_paths[(hash + i) % kPaths];
    const std::uint64_t before = atomic(each.hash).load(std::memory_order_acquire);
    if (before == hash) return atomic(each.file).load(std::memory_order_acquire);
    std::uint64_t none = 0;
    if (before != 0 || !atomic(each.hash).compare_exchange_strong(none, hash)) continue;
    const std::uint32_t file = next_file();
    Name name;
    name.add(path);
    record_name(traced, file, -1, name);
    atomic(each.file).store(file, std::memory_order_release);
    if (!traced.is_recorded()) atomic(each.hash).store(0);
    return file;
  }
  return 0;
}

std::uint32_t file_of_peer(TracedCall& traced, int descriptor, const void* peer,
                           std::uint32_t bytes) {
  const std::uint32_t file = next_file();
  Name name;
  name.add("socket to ");
  add_address(name, peer, bytes);
  record_name(traced, file, descriptor, name);
  if (std::uint32_t* const slot = slot_of(descriptor); slot && traced.is_recorded())
    atomic(*slot).store(file, std::memory_order_relaxed);
  return file;
}

namespace {

void forget_all_files(std::uint64_t, Recorder&) {
  if (newest_file == 0) return;
  std::memset(files, 0, sizeof files);
  std::memset(known_paths, 0, sizeof known_paths);
  newest_file = 0;
}

GNOMON_TRACER(io, forget_all_files);

}  // namespace

void forget_file(int descriptor) {
  if (is_in_child()) return;  // it has descriptors of its own
  if (std::uint32_t* const slot = slot_of(descriptor))
    atomic(*slot).store(0, std::memory_order_relaxed);
}

}  // namespace gnomon::collector
