// Reads and writes in many ways. For each file it prints how many bytes it has read and written and
// by how many calls of the kernel, 0: that is stdio's business; then what it has done otherwise.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#define KEPT [[gnu::noinline]]

namespace {

char buffer[8192];
volatile std::size_t size = 1000;  // unknown to the compiler, so that it has sizes checked

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}
template <typename T>
T must(const char* what, T result) {
  if (result < 0) give_up(what);
  return result;
}

void report(const char* name, long read_bytes, long reads, long written_bytes, long writes) {
  std::printf("file %s %ld %ld %ld %ld\n", name, read_bytes, reads, written_bytes, writes);
}

KEPT void by_descriptors() {
  const int file = must("open", open("plain", O_RDWR | O_CREAT | O_TRUNC, 0600));
  for (int i = 0; i < 10; ++i) must("write", write(file, buffer, size));
  must("pwrite", pwrite(file, buffer, size, 500));
  const iovec two[] = {{buffer, 300}, {buffer + 300, 200}};
  must("writev", writev(file, two, 2));
  must("lseek", lseek(file, 0, SEEK_SET));
  for (int i = 0; i < 4; ++i) must("read", read(file, buffer, size));
  must("pread", pread(file, buffer, size, 0));
  must("readv", readv(file, two, 2));
  must("preadv", preadv(file, two, 2, 0));
  must("fsync", fsync(file));
  must("ftruncate", ftruncate(file, 2000));
  must("close", close(file));
  report("plain", 4000 + 1000 + 500 + 500, 7, 10'000 + 1000 + 500, 12);
}

KEPT void twice() {
  for (int i = 0; i < 2; ++i) {
    const int file = must("openat", openat(AT_FDCWD, "twice", O_WRONLY | O_CREAT, 0600));
    const int other = must("dup", dup(file));
    must("write", write(file, buffer, 10));
    must("write", write(other, buffer, 20));
    must("close", close(other));
    must("close", close(file));
  }
  report("twice", 0, 0, 60, 4);
}

KEPT void misses() {
  for (int i = 0; i < 3; ++i)
    if (open("not/there", O_RDONLY) >= 0) std::abort();
  if (std::fopen("not/there", "r")) std::abort();
  if (read(1000, buffer, 1) >= 0 || close(1000) == 0) std::abort();
}

KEPT void by_pipe() {
  int ends[2];
  must("pipe", pipe(ends));
  must("write", write(ends[1], buffer, 123));
  must("read", read(ends[0], buffer, sizeof buffer));
  must("close", close(ends[0]) + close(ends[1]));
}

KEPT void by_socket() {
  const int listener = must("socket", socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  must("bind", bind(listener, reinterpret_cast<sockaddr*>(&address), bytes));
  must("listen", listen(listener, 1));
  must("getsockname", getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes));
  const int client = must("socket", socket(AF_INET, SOCK_STREAM, 0));
  must("connect", connect(client, reinterpret_cast<sockaddr*>(&address), bytes));
  const int server = must("accept", accept(listener, nullptr, nullptr));
  must("send", send(client, buffer, 700, 0));
  pollfd ready{server, POLLIN, 0};
  must("poll", poll(&ready, 1, -1));
  for (int left = 700; left > 0;)
    left -= static_cast<int>(must("recv", recv(server, buffer, sizeof buffer, 0)));
  must("close", close(client) + close(server) + close(listener));
  std::printf("peer 127.0.0.1:%d 700\n", ntohs(address.sin_port));
}

// Both ends count.
KEPT void between_descriptors() {
  constexpr int kNew = O_RDWR | O_CREAT | O_TRUNC;
  const int source = must("open", open("source", kNew, 0600));
  const int sent = must("open", open("sent", kNew, 0600));
  const int copied = must("open", open("copied", kNew, 0600));
  const int spliced = must("open", open("spliced", kNew, 0600));
  int pipe_ends[2], other_ends[2];
  must("pipe", pipe(pipe_ends) + pipe(other_ends));
  must("write", write(source, buffer, 3000));
  off_t begin = 0;
  must("sendfile", sendfile(sent, source, &begin, 1000));
  off64_t place = 1000;
  must("copy_file_range", copy_file_range(source, &place, copied, nullptr, 1500, 0));
  place = 0;
  must("splice", splice(source, &place, pipe_ends[1], nullptr, 400, 0));
  must("tee", tee(pipe_ends[0], other_ends[1], 400, 0));
  must("splice", splice(pipe_ends[0], nullptr, spliced, nullptr, 400, 0));
  const iovec piece{buffer, 100};
  must("vmsplice", vmsplice(other_ends[1], &piece, 1, 0));
  char taken[500];
  must("read", read(other_ends[0], taken, sizeof taken));
  for (const int file : {source, sent, copied, spliced}) must("close", close(file));
  for (int i = 0; i < 2; ++i) must("close", close(pipe_ends[i]) + close(other_ends[i]));
  report("source", 1000 + 1500 + 400, 3, 3000, 1);
  report("sent", 0, 0, 1000, 1);
  report("copied", 0, 0, 1500, 1);
  report("spliced", 0, 0, 400, 1);
  std::printf("pipes %d %d\n", 123 + 400 + 400 + 500, 123 + 400 + 400 + 100);
}

KEPT void several_at_once() {
  int ends[2];
  must("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
  iovec pieces[] = {{buffer, 10}, {buffer, 20}};
  mmsghdr messages[2]{};
  for (int i = 0; i < 2; ++i)
    messages[i].msg_hdr.msg_iov = &pieces[i], messages[i].msg_hdr.msg_iovlen = 1;
  must("sendmmsg", sendmmsg(ends[0], messages, 2, 0));
  must("recvmmsg", recvmmsg(ends[1], messages, 2, 0, nullptr));
  const int counter = must("eventfd", eventfd(0, 0));
  must("eventfd_write", eventfd_write(counter, 7));
  eventfd_t value = 0;
  must("eventfd_read", eventfd_read(counter, &value));
  must("close", close(ends[0]) + close(ends[1]) + close(counter));
}

KEPT void by_streams() {
  std::FILE* file = std::fopen("lines", "w");
  if (!file) give_up("fopen");
  long bytes = 0;
  for (int i = 0; i < 3000; ++i) bytes += std::fprintf(file, "line %d of many\n", i);
  bytes += static_cast<long>(std::fwrite(buffer, 1, size, file));
  std::fputs("the end\n", file);
  std::fputc('x', file);
  putc_unlocked('\n', file);
  bytes += 10;
  std::fclose(file);

  file = std::fopen("lines", "r");
  if (!file) give_up("fopen");
  char line[256];
  for (int i = 0; i < 1000; ++i)
    if (!std::fgets(line, sizeof line, file)) give_up("fgets");
  char* grown = nullptr;
  std::size_t room = 0;
  for (int i = 0; i < 1000; ++i)
    if (getline(&grown, &room, file) < 0) give_up("getline");
  std::free(grown);
  int number = 0;
  for (int i = 0; i < 500; ++i)
    if (std::fscanf(file, "line %d of many\n", &number) != 1) give_up("fscanf");
  for (int i = 0; i < 2000; ++i) std::getc(file);
  for (int i = 0; i < 2000; ++i) getc_unlocked(file);
  while (std::fread(line, 1, 200, file) == 200) {
  }
  std::fclose(file);
  report("lines", bytes, 0, bytes, 0);
}

KEPT void by_cpp_streams() {
  {
    std::ofstream out("stream");
    for (int i = 0; i < 2000; ++i) out << "number " << i << '\n';
  }
  std::ifstream in("stream");
  std::string line;
  long bytes = 0;
  while (std::getline(in, line)) bytes += static_cast<long>(line.size()) + 1;
  report("stream", bytes, 0, bytes, 0);
}

KEPT void in_threads() {
  std::thread threads[4];
  for (std::thread& thread : threads)
    thread = std::thread([] {
      const int file = must("open", open("shared", O_WRONLY | O_CREAT | O_APPEND, 0600));
      for (int i = 0; i < 100; ++i) must("write", write(file, "0123456789", 10));
      must("close", close(file));
    });
  for (std::thread& thread : threads) thread.join();
  report("shared", 0, 0, 4000, 400);
}

// Not the parent's I/O.
KEPT void in_child() {
  std::fflush(stdout);
  const pid_t child = must("fork", fork());
  if (child == 0) {
    by_descriptors();
    _exit(0);
  }
  must("waitpid", waitpid(child, nullptr, 0));
}

}  // namespace

int main() {
  by_descriptors();
  twice();
  misses();
  by_pipe();
  by_socket();
  between_descriptors();
  several_at_once();
  by_streams();
  by_cpp_streams();
  in_threads();
  in_child();
}
