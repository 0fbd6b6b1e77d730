// Writes what the kernel's clock has told into the experiment. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "libcollector/format/control.h"
#include "libcollector/outside/cpu_use.h"
#include "libcollector/outside/kernel_symbols.h"
#include "libcollector/outside/outer_stack.h"
#include "libcollector/outside/process_objects.h"
#include "libcollector/outside/record.h"
#include "libcollector/outside/thread_accounts.h"
#include "libcollector/outside/thread_states.h"
#include "libcollector/record/recorder.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::outside {

// One a process.
class SampleWriter {
 public:
  struct Wanted {
    pid_t pid;                 // of the recorded process, as this program knows it
    std::uint32_t own_number;  // as the process knows itself
    std::uint64_t period;      // ns of CPU time
    std::uint32_t depth;       // frames
  };
  SampleWriter(const Wanted& wanted, collector::Recorder& recorder, ProcessObjects& objects,
               format::ControlPage& page)
      : wanted_(wanted), recorder_(recorder), objects_(objects), page_(page), outer_(wanted.pid) {}
  // To be called before the others. Returns false if memory is short.
  bool open();

  struct Copy {
    bool is_cut = false;     // the walk of the stack needed more than was copied
    std::uint64_t used = 0;  // bytes that a walk to the end needed
  };
  struct Written {
    ThreadAccounts::Tick tick;
    Copy copy;
  };
  // weight, parallelism: see format::ClockSample.
  struct Tick {
    std::uint64_t weight;
    std::uint16_t parallelism;
    bool is_in_watch;  // a watch held the thread
  };
  // Returns nothing if the sample could not be written, which is counted.
  std::optional<Written> put(const Sample& sample, const Tick& tick);
  void put(const Rest& rest, std::uint64_t time);
  void put(const OffCpu& off);
  void put(const CpuUse::Stretch& stretch);
  // Of what is counted besides time. weight: see format::CounterEvent and format::Touch.
  struct Counted {
    std::uint8_t kind;     // of the event
    std::uint32_t number;  // of the counter or the watch
    std::uint64_t weight;
    bool is_behind = false;  // the sample was taken behind the instruction that it is about
  };
  void put(const Sample& sample, const Counted& counted);
  // Counts without a call stack. time: CLOCK_MONOTONIC, ns.
  void put(const Counted& counted, format::Activity activity, std::uint64_t time);
  // Returns the call stack of a sample that is not to be written; 0: it cannot be kept.
  std::uint32_t place_of(const Sample& sample);
  // The same for the sample of a switch, whose call stack reason_of() is to be asked about: that
  // returns what the thread waits for, as far as the kernel's part of the call stack says.
  std::uint32_t place_of_switch(const Sample& sample);
  format::ThreadState reason_of(std::uint32_t stack);
  // Names the kernel's functions that call stacks have had since the last call.
  void name_kernel() { kernel_.write(recorder_.directory(), page_.session); }
  // The same, but later if it would take the program's CPU for long now.
  void name_kernel_if_at_hand() { kernel_.write_if_at_hand(recorder_.directory(), page_.session); }
  // Returns false if reason_of() had better be asked later, likewise.
  bool has_reasons_at_hand() { return kernel_.is_at_hand(); }
  // Other code has come to lie where some was.
  void forget_rules() { unwinder_.forget(); }
  // The thread has ended: a sample that comes of its number is another one's.
  void forget(std::uint32_t thread);
  // Returns the number that the process itself knows its thread by (another one in a pid namespace
  // of its own). The thread may have ended.
  std::uint32_t number_of(std::uint32_t thread);

 private:
  void put(format::ClockSample& record, collector::Writer& writer, format::Activity activity);
  void put(const format::EventHead& head, const Counted& counted, std::uint64_t address,
           collector::Writer& writer);
  // What stands for the innermost frame.
  enum class Leaf { as_sampled, instruction_before, watch };
  std::uint32_t stack_of(format::Activity activity, collector::Writer& writer);
  std::uint32_t put_inner_frames(const Sample& sample, Leaf leaf, std::uint64_t* frames);
  collector::Walked walk(const Sample& sample, collector::Writer& writer, std::uint32_t inner);
  collector::Walked walk_without_fp(const Sample& sample, collector::Writer& writer,
                                    std::uint32_t inner, collector::Walked known);
  collector::Walked walk_beyond(const Sample& sample, collector::Writer& writer,
                                std::uint32_t inner, collector::Walked known);
  // copy: null if the program decides how many such events there are: no more than the copy is
  // read.
  std::uint32_t stack_of(const Sample& sample, std::uint32_t epoch, collector::Writer& writer,
                         Copy* copy, Leaf leaf = Leaf::as_sampled);

  Wanted wanted_;
  collector::Recorder& recorder_;
  ProcessObjects& objects_;
  format::ControlPage& page_;
  collector::Unwinder unwinder_;
  KernelSymbols kernel_;
  OuterStack outer_;
  struct Thread {
    std::uint32_t number;  // as the process has it
    bool has_ended = false;
  };
  std::unordered_map<std::uint32_t, Thread> threads_;
  // By call stack. The kernel's part of it until somebody asks for the reason: that needs the names
  // of the kernel's functions, which take a while.
  struct Switch {
    std::vector<std::uint64_t> kernel;
    format::ThreadState reason = format::ThreadState::unknown;
  };
  std::unordered_map<std::uint32_t, Switch> switches_;
};

}  // namespace gnomon::outside
