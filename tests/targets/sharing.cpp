// Children that share its memory do I/O, allocate and lock, each on descriptors that the program
// also uses. Argument: vfork (on its stack), clone (beside it, with thread-local storage of its),
// exits (a child that runs what the program is to do at its end), or contexts (no child: the
// program itself, on a stack that it has made). Prints "right" at the end.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kStack = 1 << 20;
char bytes[4096];

void writes(int file, std::size_t count) {
  if (write(file, bytes, count) != static_cast<ssize_t>(count)) _exit(3);
}

int opens(const char* path) {
  const int file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) _exit(4);
  return file;
}

char* stack_of_own() {
  void* memory = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(5);
  return static_cast<char*>(memory);
}

// Redirects what is to be its output, as shells do.
void by_vfork(int log, int data) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) _exit(6);
  const pid_t child = vfork();  // NOLINT
  if (child == 0) {
    dup2(ends[1], log);
    close(data);
    execl("/bin/true", "true", nullptr);
    _exit(9);
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) _exit(7);
}

struct Helper {
  std::atomic<bool> over = false;
  int ends[2];
};

int helps(void* argument) {
  Helper& helper = *static_cast<Helper*>(argument);
  char byte = 0;
  while (!helper.over) {
    if (write(helper.ends[1], "x", 1) != 1 || read(helper.ends[0], &byte, 1) != 1) return 1;
    if (byte != 'x') return 2;
  }
  return 0;
}

void by_clone(int log, int data) {
  static Helper helper;
  if (pipe2(helper.ends, O_CLOEXEC) != 0) _exit(6);
  const pid_t child = clone(helps, stack_of_own() + kStack, CLONE_VM | SIGCHLD, &helper);
  for (int i = 0; i < 50'000; ++i) writes(i % 2 == 0 ? log : data, 1);
  helper.over = true;
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) _exit(7);
}

int exits(void*) { std::exit(0); }

void by_exits() {
  const pid_t child =
      clone(exits, stack_of_own() + kStack, CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr);
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) _exit(7);
}

ucontext_t program, other;
int file_of_other = -1;

void in_context() {
  for (int i = 0; i < 25'000; ++i) writes(file_of_other, 1);
}

[[gnu::noinline]] void in_context_for(int file) {
  file_of_other = file;
  getcontext(&other);
  other.uc_stack.ss_sp = stack_of_own();
  other.uc_stack.ss_size = kStack;
  other.uc_link = &program;
  makecontext(&other, in_context, 0);
  swapcontext(&program, &other);
}

void by_contexts(int log, int data) {
  in_context_for(log);
  in_context_for(data);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  const int log = opens("log"), data = opens("data");
  writes(log, 100);
  writes(data, 200);
  if (std::strcmp(way, "vfork") == 0) by_vfork(log, data);
  if (std::strcmp(way, "clone") == 0) by_clone(log, data);
  if (std::strcmp(way, "exits") == 0) by_exits();
  if (std::strcmp(way, "contexts") == 0) by_contexts(log, data);
  for (int i = 0; i < 10; ++i) {
    writes(log, 1000);
    writes(data, 2000);
  }
  std::puts("right");
}
