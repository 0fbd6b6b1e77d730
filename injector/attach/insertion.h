// One insertion: the library is loaded into a running process, or called there again. Prepares the
// gate, talks with the collector and reads the result. Knows no debugger: back-ends stop, write and
// resume. Any thread.
#pragma once
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "injector/attach/gate/gate.h"
#include "injector/attach/gate/mask_gate.h"
#include "injector/attach/remote/waiting.h"
#include "injector/attach/result.h"
#include "injector/base/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// The fault of a process that has executed another program.
inline Fault another_program() {
  return {"it has executed another program in the meantime", "repeat"};
}

class Insertion {
 public:
  // On a Fault nothing can be loaded into this process, which was not touched.
  static Result<Insertion> prepare(pid_t pid, const Settings& settings);
  // Prepares the opposite: the library gives the process back what it has changed, and stays
  // mapped.
  static Result<Insertion> prepare_release(pid_t pid, std::uint64_t session);

  // Returns true if files are handed to the process because it cannot open them by path.
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
  // Returns true where a thread that stays waits; the back-end restores its rip, rsp and flags.
  bool is_staying(std::uint64_t pc) const;
  // Returns true for an address in the gate's code.
  bool is_in_gate(std::uint64_t pc) const { return pc - code_at_ < kCodeBytes; }
  // Address of the word that lets a staying thread go on by itself once it is 1.
  std::uint64_t release() const { return stack_top() + 8; }

  enum class Progress {
    borrowed,  // the borrowed thread has not left yet
    loading,   // the borrowed thread has left; the new thread works
    asks,      // the new thread waits until the masks of blocking_threads() are changed
    done,      // see result()
  };
  // Reads the state from the process's memory. Stops nothing.
  Progress progress() const;
  // Returns false if the process has ended or has executed another program.
  bool is_there() const;
  // Returns true if the collector's own thread does not exist, not yet or no longer.
  bool has_helper_left() const { return helper() == 0; }
  // Returns that thread's id, or 0.
  pid_t helper() const;
  pid_t helper_or(pid_t other) const {
    const pid_t own = helper();
    return own != 0 ? own : other;
  }
  // To be called while the library loads: sends the files once the process waits for them.
  void hand_over();
  // To be called before the process runs under a debugger. threads: those that the debugger keeps
  // stopped and for which it holds no tick.
  void note_held(const std::vector<pid_t>& threads) const;
  // The borrowed thread comes with all signals blocked; `mask` is its own.
  void comes_masked(std::uint64_t mask);
  // Returns the threads whose masks the collector asks to be changed. They may have changed
  // meanwhile.
  std::vector<format::BlockingThread> blocking_threads() const;
  // Returns true if the library is to give the process back.
  bool releases() const { return releases_; }
  // Returns how the masks are to be changed.
  MaskChange mask_change() const { return releases_ ? MaskChange::block : MaskChange::unblock; }
  // Addresses for a thread's mask gate and its code, free once the borrowed thread has left. index:
  // below kMostMaskGates.
  struct Places {
    std::uint64_t block, code;
  };
  Places mask_gate(std::uint64_t index) const;
  static constexpr std::uint64_t kFirstMaskGate = 4096;  // bytes of code that stand before it
  static constexpr std::uint64_t kMostMaskGates = (kCodeBytes - kFirstMaskGate) / kMaskGateBytes;
  // Answers the collector's question. threads: the same, with the outcome for each.
  void answer_unblocked(const std::vector<format::BlockingThread>& threads) const;
  // To be called once done. A Fault says why the process is not recorded or not given back; an
  // empty experiment is removed.
  Result<AttachResult> result() const;
  // To be called once is_there() is false. Says why, as far as it can be told.
  Fault loss() const;
  // Says what the new thread was doing last, for a message.
  std::string step() const;
  // Says what happens if that thread makes progress after all, for a message.
  std::string outlook() const;

 private:
  static Result<Insertion> prepare_call(pid_t pid, const char* function);
  Result<AttachResult> result_in(const Gate& gate) const;
  void forget_experiment() const;

  pid_t pid_ = 0;
  bool releases_ = false;
  std::uint64_t gate_at_ = 0, code_at_ = 0;
  std::unique_ptr<Gate> gate_;  // as it is put there
  // Files that are handed over.
  std::string library_, stem_;
  std::uint64_t first_number_ = 1;
  std::string made_;  // the experiment's directory; empty: not yet, or by the process
  Result<void> handed_;
  std::vector<char> code_;
};

}  // namespace gnomon::injector
