// Daemons, shells and servers, and their ways with descriptors.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "tests/targets/hostile/rows.h"

namespace hostile {
namespace {

constexpr int kReport = 200;  // where children tell what they found

// Runs that in a child, which tells its findings by a pipe.
void in_child(Findings& findings, void (*does)(Findings&)) {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], kReport) != kReport) _exit(91);
  close(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    Findings found;
    does(found);
    std::size_t told = 0;
    while (told < found.size()) {
      const ssize_t length = write(kReport, found.data() + told, found.size() - told);
      if (length <= 0) _exit(92);
      told += static_cast<std::size_t>(length);
    }
    _exit(0);
  }
  close(kReport);
  char text[4096];
  for (ssize_t length = 0; (length = read(ends[0], text, sizeof text)) > 0;)
    findings.append(text, static_cast<std::size_t>(length));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) _exit(93);
  find(findings, "status of the child", status);
}

int open_null() { return open("/dev/null", O_RDWR); }

void becomes_a_daemon(Findings& findings) {
  setsid();
  if (fork() != 0) _exit(0);
  for (int i = 0; i < kReport; ++i) close(i);
  find(findings, "standard input", open_null());
  find(findings, "standard output", dup(0));
  find(findings, "standard error", dup(0));
  work(3000);
  find(findings, "next", open_null());
  find_descriptors(findings, "daemon:");
}

void daemon_row(Findings& findings) {
  in_child(findings, [](Findings& found) { becomes_a_daemon(found); });
}

// As shells do for `command > file`.
void redirections(Findings& findings) {
  for (int i = 0; i < 20; ++i) {
    const int saved = fcntl(STDERR_FILENO, F_DUPFD, 10);
    const int file = open("redirected", O_CREAT | O_TRUNC | O_RDWR, 0600);
    if (saved < 0 || file < 0 || dup2(file, STDERR_FILENO) != STDERR_FILENO) _exit(94);
    close(file);
    work(100);
    if (write(STDERR_FILENO, "text\n", 5) != 5) _exit(95);
    struct stat status {};
    fstat(STDERR_FILENO, &status);
    if (i == 19) find(findings, "bytes of the file", status.st_size);
    dup2(saved, STDERR_FILENO);
    close(saved);
    if (i == 19) find(findings, "number of the file", file);
  }
  unlink("redirected");
}

void lowest_numbers(Findings& findings) {
  long wrong = 0;
  const int lowest = open_null();
  close(lowest);
  for (int i = 0; i < 300; ++i) {
    const int file = open_null();
    wrong += file != lowest;
    work(20);
    close(file);
  }
  find(findings, "not the lowest number", wrong);
}

// Threads that allocate, and open nothing.
class Allocating {
 public:
  Allocating() {
    for (std::thread& thread : threads_)
      thread = std::thread([this] {
        while (!over_)
          for (std::size_t i = 0; i < 1000; ++i) {
            void* block = std::malloc(16 + i);
            asm volatile("" : "+r"(block));
            std::free(block);
          }
      });
  }
  ~Allocating() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Allocating(const Allocating&) = delete;
  Allocating& operator=(const Allocating&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::thread threads_[3];
};

// As in `close(0); open(...)`, that often.
void find_lowest(Findings& findings, int times) {
  const int lowest = open_null();
  close(lowest);
  long wrong = 0;
  for (int i = 0; i < times; ++i) {
    const int file = open_null();
    wrong += file != lowest;
    close(file);
  }
  find(findings, "not the lowest number", wrong);
}

void lowest_beside_threads(Findings& findings) {
  const Allocating others;
  find_lowest(findings, 5'000);
}

// As closefrom(3), which daemons begin with.
void lowest_after_all_are_closed(Findings& findings) {
  close_range(STDERR_FILENO + 1, ~0u, 0);
  const Allocating others;
  find_lowest(findings, 5'000);
}

long own_cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
}

// The clock of each comes to its first tick meanwhile.
void lowest_beside_new_threads(Findings& findings) {
  std::atomic<bool> over = false;
  std::thread maker([&] {
    for (int i = 0; i < 40; ++i)
      std::thread([] {
        while (own_cpu_ms() < 8) {
        }
      }).join();
    over = true;
  });
  Findings found, right;
  find(right, "not the lowest number", 0);
  while (!over && (found.empty() || found == right)) {
    found.clear();
    find_lowest(found, 100);
  }
  maker.join();
  findings += found;
}

// Takes numbers that are free by dup2(2), as shells and servers do.
void takes_numbers(Findings& findings) {
  constexpr int kFirst = 3, kEnd = 12;
  const int mine = fcntl(open("mine", O_CREAT | O_TRUNC | O_RDWR, 0600), F_DUPFD, kEnd);
  struct stat own {
  }, other{};
  fstat(mine, &own);
  const Allocating others;
  long lost = 0;
  for (int round = 0; round < 2000; ++round) {
    for (int i = kFirst; i < kEnd; ++i) dup2(mine, i);
    for (int i = kFirst; i < kEnd; ++i) {
      lost += fstat(i, &other) != 0 || other.st_ino != own.st_ino;
      close(i);
    }
  }
  fstat(mine, &own);
  find(findings, "lost descriptors", lost);
  find(findings, "bytes of others in the file", own.st_size);
  close(mine);
  unlink("mine");
}

void forks_beside_allocating(Findings& findings) {
  const Allocating others;
  for (int i = 0; i < 20; ++i) {
    Findings found;
    in_child(found, [](Findings& each) { find_descriptors(each, "child:"); });
    if (i == 0) findings = found;
    if (found != findings) findings += found;
  }
}

void closes_all_others(Findings& findings) {
  in_child(findings, [](Findings& found) {
    dup2(kReport, STDERR_FILENO + 1);
    close_range(STDERR_FILENO + 2, ~0u, 0);
    work(2000);
    find(found, "next", open_null());
    find_descriptors(found, "after all were closed:");
    dup2(STDERR_FILENO + 1, kReport);
  });
}

void descriptors_here_and_there(Findings& findings) {
  work(500);
  find_descriptors(findings, "parent:", Numbers::below_limit);
  in_child(findings, [](Findings& found) {
    work(500);
    find_descriptors(found, "child:");
  });
}

// Serves until it reads a q.
void serve(int socket) {
  for (;;) {
    const int client = accept(socket, nullptr, nullptr);
    char byte = 0;
    if (client < 0 || read(client, &byte, 1) != 1) _exit(96);
    if (byte == 'q') _exit(0);
    work(50);
    byte = static_cast<char>(byte + 1);
    if (write(client, &byte, 1) != 1) _exit(97);
    close(client);
  }
}

char ask(const sockaddr_un& address, char byte) {
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      write(client, &byte, 1) != 1)
    _exit(98);
  if (byte != 'q' && read(client, &byte, 1) != 1) _exit(99);
  close(client);
  return byte;
}

void prefork(Findings& findings) {
  sockaddr_un address{AF_UNIX, {}};
  std::snprintf(address.sun_path, sizeof address.sun_path, "socket.%d", static_cast<int>(getpid()));
  unlink(address.sun_path);
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listening, 16) != 0)
    _exit(94);
  constexpr int kWorkers = 4;
  pid_t workers[kWorkers];
  for (pid_t& worker : workers)
    if (worker = fork(); worker == 0) serve(listening);
  long sum = 0;
  for (char i = 0; i < 40; ++i) sum += ask(address, i) - i;
  for (int i = 0; i < kWorkers; ++i) ask(address, 'q');
  long statuses = 0;
  for (const pid_t worker : workers) {
    int status = 1;
    if (waitpid(worker, &status, 0) == worker) statuses += status;
  }
  close(listening);
  unlink(address.sun_path);
  find(findings, "answers", sum);
  find(findings, "statuses of the workers", statuses);
}

// A descriptor that is sent to another process arrives as itself.
void handed_over(Findings& findings) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) _exit(94);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  char byte = 'x';
  iovec data{&byte, 1};
  msghdr message{nullptr, 0, &data, 1, control, sizeof control, 0};
  const pid_t child = fork();
  if (child == 0) {
    const int file = open("/dev/zero", O_RDONLY);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    *header = {CMSG_LEN(sizeof file), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
    work(100);
    _exit(sendmsg(pair[1], &message, 0) == 1 ? 0 : 1);
  }
  int status = 1, file = -1;
  if (recvmsg(pair[0], &message, MSG_CMSG_CLOEXEC) != 1 || waitpid(child, &status, 0) != child)
    _exit(95);
  const cmsghdr* const received = CMSG_FIRSTHDR(&message);
  if (received == nullptr) _exit(95);
  std::memcpy(&file, CMSG_DATA(received), sizeof file);
  char zeros[16] = "not zeros";
  find(findings, "read", read(file, zeros, sizeof zeros));
  find(findings, "the first byte", zeros[0]);
  find(findings, "status of the child", status);
  for (const int each : {file, pair[0], pair[1]}) close(each);
}

constexpr Row kRows[] = {{"daemon", daemon_row},
                         {"redirections", redirections},
                         {"lowest_numbers", lowest_numbers},
                         {"lowest_beside_threads", lowest_beside_threads},
                         {"lowest_after_all_are_closed", lowest_after_all_are_closed},
                         {"lowest_beside_new_threads", lowest_beside_new_threads},
                         {"takes_numbers", takes_numbers},
                         {"forks_beside_allocating", forks_beside_allocating},
                         {"closes_all_others", closes_all_others},
                         {"descriptors", descriptors_here_and_there},
                         {"prefork", prefork},
                         {"handed_over", handed_over}};

}  // namespace

std::span<const Row> rows_of_descriptors() { return kRows; }

}  // namespace hostile
