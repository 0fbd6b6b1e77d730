// Hands files to a process that cannot open them by path (another root, mount namespace or user):
// as descriptors, through a socket of the process's own. Any thread.
#include "injector/attach/remote/file_handover.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "injector/attach/remote/descriptor.h"

namespace gnomon::injector {
namespace {

Descriptor descriptor_of(pid_t pid, int number) {
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return Descriptor(-1);
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), number, 0)));
}

Fault no_handover(int error) {
  return {
      "it cannot open libcollector.so or the experiment's directory by path, and this system does "
      "not allow handing them over (" +
          std::string(std::strerror(error)) + ")",
      "use a Linux kernel from 5.6, and be root outside of containers and sandboxes"};
}

// cmsg(3): descriptors travel beside the bytes of a message, which needs at least one.
bool send_files(int socket, const std::array<int, 2>& files) {
  char byte = 0;
  iovec data{&byte, sizeof byte};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof files)> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_LEN(sizeof files);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  *header = {CMSG_LEN(sizeof files), SOL_SOCKET, SCM_RIGHTS};
  std::memcpy(CMSG_DATA(header), files.data(), sizeof files);
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof byte;
}

// O_NOFOLLOW: the owner of the parent directory may have put a link there meanwhile.
bool give(const std::string& directory, const Owner& owner) {
  const Descriptor made(open(directory.c_str(), O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return made && fchown(made.get(), owner.user, owner.group) == 0;
}

}  // namespace

// pidfd_getfd(2) of an invalid descriptor fails with EBADF exactly if the call is permitted.
Result<void> check_handover(pid_t pid) {
  const Descriptor any = descriptor_of(pid, 0);
  if (!any && errno != EBADF) return tl::unexpected(no_handover(errno));
  return {};
}

Result<std::string> make_experiment(const std::string& stem, std::uint64_t first,
                                    const Owner& owner) {
  constexpr std::uint64_t kMost = 1'000'000;
  for (std::uint64_t n = first; n < kMost; ++n) {
    std::string directory = stem + (n == 0 ? ".er" : "." + std::to_string(n) + ".er");
    if (mkdir(directory.c_str(), 0700) == 0) {
      if (owner.user == geteuid() || give(directory, owner)) return directory;
      const int error = errno;
      rmdir(directory.c_str());
      errno = error;
    }
    if (errno != EEXIST) break;
  }
  return fault("no experiment can be made at " + stem + ".N.er (" + std::strerror(errno) + ")",
               "choose another directory");
}

Result<void> hand(pid_t pid, int socket, const std::string& library, const std::string& directory) {
  const Descriptor there = descriptor_of(pid, socket);
  if (!there) return tl::unexpected(no_handover(errno));
  const Descriptor library_file(open(library.c_str(), O_RDONLY | O_CLOEXEC));
  const Descriptor directory_file(
      open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (library_file && directory_file &&
      send_files(there.get(), {library_file.get(), directory_file.get()}))
    return {};
  const int error = errno;
  hand_nothing(pid, socket);
  return fault("libcollector.so could not be handed to it (" + std::string(std::strerror(error)) +
               ")");
}

void hand_nothing(pid_t pid, int socket) {
  const Descriptor there = descriptor_of(pid, socket);
  if (there) send(there.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace gnomon::injector
