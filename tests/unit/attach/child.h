// A child process of a test, and what it shares with the test.
#pragma once
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <thread>

#include "injector/attach/remote/remote_process.h"
#include "injector/attach/remote/waiting.h"

namespace gnomon::injector {

// What both processes see.
struct Shared {
  std::atomic<int> handled, step;
  std::atomic<int> go_on;
};

class Child {
 public:
  // What it does; 42 is right.
  explicit Child(const std::function<int(Shared&)>& what)
      : shared_(new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared{}) {
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(what(*shared_));
  }
  ~Child() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    munmap(shared_, sizeof(Shared));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  Shared& shared() { return *shared_; }
  bool comes_to(const std::function<bool()>& where) const {
    for (int i = 0; i < 20'000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      if (where()) return true;
    return false;
  }
  // And sleeps there; also once it has been stopped there.
  bool comes_to_call(long number) const {
    bool is_there = false;
    comes_to([&] {
      const auto call = system_call_of(pid_, pid_);
      is_there = (call == number || call == SYS_restart_syscall) && state_of(pid_, pid_) == 'S';
      return is_there || has_ended();
    });
    return is_there;
  }
  bool has_ended() const {
    const char state = state_of(pid_, pid_);
    return state == 'Z' || state == '\0';
  }
  // Its exit status, or the signal with its sign changed.
  int end() {
    int status = 0;
    if (!comes_to([&] { return waitpid(pid_, &status, WNOHANG) == pid_; })) return 0;
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  Shared* shared_;
  pid_t pid_;
};

}  // namespace gnomon::injector
