// One library loaded into one running process, or called there again: what is put there, and what
// came of it. Knows no debugger: back-ends stop, write and resume. Any thread.
#pragma once
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "injector/attach/gate/gate.h"
#include "injector/attach/gate/mask_gate.h"
#include "injector/attach/remote/waiting.h"
#include "injector/attach/result.h"
#include "injector/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// The process has executed another one.
inline Fault another_program() { return {"it has begun another program meanwhile", "repeat"}; }

class Insertion {
 public:
  // A fault: nothing can be loaded into this process; it was not touched.
  static Result<Insertion> prepare(pid_t pid, const Settings& settings);
  // The other way: the library gives the process back what it has of it, and stays.
  static Result<Insertion> prepare_release(pid_t pid, std::uint64_t session);

  // Files are handed to it, which it cannot open by their paths.
  bool hands() const { return gate_->taking != TAKING_NOTHING; }

  // The bytes for the addresses where the back-end has made room: kGateBytes that can be read and
  // written, a page that can be executed. For `thread` as it stands, which goes on by
  // `resume` at once or when it is released.
  void place(std::uint64_t gate, std::uint64_t code, const Stopped& thread, const Resume& resume,
             bool stays);
  const Gate& gate() const { return *gate_; }
  const std::vector<char>& code() const { return code_; }
  // The registers of the borrowed thread.
  std::uint64_t entry() const { return code_at_; }
  std::uint64_t stack_top() const { return gate_at_ + kGateBytes - 64; }
  // A thread that stays is here: rip, rsp and flags are to be put back.
  bool is_staying(std::uint64_t pc) const;
  // Of the code it is borrowed for.
  bool is_in_gate(std::uint64_t pc) const { return pc - code_at_ < kCodeBytes; }
  // The word that lets it go on by itself once it is 1.
  std::uint64_t release() const { return stack_top() + 8; }

  enum class Progress {
    borrowed,  // the borrowed thread has not left yet
    loading,   // it is where it was; the new thread works
    asks,      // as well, and waits for the masks of blocking_threads() to be changed
    done,      // `result` says what came of it
  };
  // What the process's memory says. Stops nothing.
  Progress progress() const;
  // False: the process has ended, or has begun another program.
  bool is_there() const;
  // The thread that was made for the collector is not there, or not any more. One that is done ends
  // by itself, soon.
  bool has_helper_left() const { return helper() == 0; }
  // Its number; 0: it is not there.
  pid_t helper() const;
  // To be called while it loads: files that it cannot open are handed to it when it waits for them.
  void hand_over();
  // Before the process runs under a debugger: threads that it keeps where they are, with no tick to
  // be handed to them.
  void note_held(const std::vector<pid_t>& threads) const;
  // Once it asks. Which of them still are as they were is to be seen.
  std::vector<format::BlockingThread> blocking_threads() const;
  // The library is to give the process back.
  bool releases() const { return releases_; }
  // What their masks are to do with SIGPROF.
  MaskChange mask_change() const { return releases_ ? MaskChange::block : MaskChange::unblock; }
  // Where there is room for the MaskGate of one of them and for its code, once the borrowed thread
  // has left. index: below kMostMaskGates.
  struct Places {
    std::uint64_t block, code;
  };
  Places mask_gate(std::uint64_t index) const;
  static constexpr std::uint64_t kFirstMaskGate = 4096;  // bytes of code that stand before it
  static constexpr std::uint64_t kMostMaskGates = (kCodeBytes - kFirstMaskGate) / kMaskGateBytes;
  // The same, with what came of each.
  void answer_unblocked(const std::vector<format::BlockingThread>& threads) const;
  // Once done. A fault: why it does not record, or is not given back; an experiment that holds
  // nothing is removed.
  Result<AttachResult> result() const;
  // Once it is not there: why, as far as its threads tell.
  Fault loss() const;
  // What the new thread was doing last, for a message.
  std::string step() const;
  // And what comes of it, should it get on after all.
  std::string outlook() const;

 private:
  static Result<Insertion> prepare_call(pid_t pid, const char* function);
  Result<AttachResult> result_in(const Gate& gate) const;
  void forget_experiment() const;

  pid_t pid_ = 0;
  bool releases_ = false;
  std::uint64_t gate_at_ = 0, code_at_ = 0;
  std::unique_ptr<Gate> gate_;  // as it is put there
  // Of files that are handed to it.
  std::string library_, stem_;
  std::string made_;  // the experiment's directory; empty: not yet, or by the process
  Result<void> handed_;
  std::vector<char> code_;
};

}  // namespace gnomon::injector
