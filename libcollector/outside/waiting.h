// What the threads of another process wait for: from the kernel's switches and accounts to what is
// recorded. In gnomon-sampler.
#pragma once
#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcollector/outside/cpu_use.h"
#include "libcollector/outside/record.h"
#include "libcollector/outside/ring.h"
#include "libcollector/outside/switch_events.h"
#include "libcollector/outside/thread_states.h"
#include "libcollector/outside/wait_under_way.h"

namespace gnomon::outside {

class Waiting {
 public:
  struct Wanted {
    pid_t pid;
    bool sees_kernel;
    bool tells_use;             // of the CPUs
    std::uint32_t stack_bytes;  // copied with a sample of a switch
  };
  struct Calls {
    std::function<void(const OffCpu&)> put;
    // The call stack with which a thread leaves its CPU, and what it waits for then.
    std::function<std::uint32_t(const Sample&)> place_of;
    // The same of a thread that waits already.
    std::function<std::uint32_t(const Sample&)> place_under_way;
    ThreadStates::ReasonOf reason_of;
    ThreadStates::CallOf call_of;
    std::function<void(const CpuUse::Stretch&)> put_use;
    // Records of switches have been given up; why: a clause.
    std::function<void(const std::string& why)> give_up;
  };
  Waiting(pid_t pid, Calls calls)
      : calls_(std::move(calls)),
        wanted_{pid, false, false, 0},
        under_way_(pid),
        states_(calls_.reason_of, calls_.call_of) {}

  // Begins to follow switches, as far as the kernel allows.
  void open(const Wanted& wanted, const Rings& rings);
  void close() { events_.close(); }
  // Threads on a CPU as of the last record that was looked at; 0: not known.
  std::uint32_t running() const { return states_.running(); }
  bool has_switches() const { return states_.has_switches(); }

  // PERF_RECORD_SWITCH, PERF_RECORD_FORK of a thread, PERF_RECORD_EXIT, and samples: on_sample()
  // returns false if the sample is not of a switch.
  void on_switch(const perf_event_header& record);
  void on_fork(std::uint32_t thread, std::uint64_t time) { states_.on_fork(thread, time); }
  void on_exit(std::uint32_t thread, std::uint64_t time);
  // Of a thread that has ended nothing is told.
  void leave_out(std::uint32_t thread) { states_.forget(thread); }
  bool on_sample(const Sample& sample);
  bool is_sample(const Origin& sample) const { return events_.is_sample(sample); }
  // Where a thread was switched, whatever event the sample is of.
  void on_place(const Sample& sample);
  void await_calls() { states_.await_calls(); }
  void mark_stopped() { states_.mark_stopped(); }

  // The thread is recorded from now on, or once more. is_asked: where it waits is to be looked up.
  void begin(std::uint32_t thread, const ThreadTimes& times, bool is_asked);
  void tell(std::uint32_t thread, const ThreadTimes& times, bool is_all);
  void end(std::uint32_t thread, std::uint64_t cpu, std::uint64_t time);

  // Tells how the process used CPUs up to that time.
  void tell_use(std::uint64_t time, bool is_all);
  // The recording begins, or goes on.
  void begin_use(std::uint64_t time);

  // Looks how often threads switch: adapts the share of switches that are sampled to 2000 samples a
  // second, and gives the records up if there are very many.
  void adapt(std::uint64_t now, const Rings& rings);

 private:
  WaitPlace place_under_way(std::uint32_t thread);
  void put(const std::vector<OffCpu>& told) const;
  void give_up(const std::string& why);
  void open_events(std::uint64_t period, const Rings& rings);

  Calls calls_;
  Wanted wanted_;
  WaitUnderWay under_way_;
  SwitchEvents events_;
  ThreadStates states_;
  CpuUse use_;
  std::uint64_t period_ = 0;     // of the samples; 0: there are none
  std::uint64_t switches_ = 0;   // since looked_at_
  std::uint64_t looked_at_ = 0;  // CLOCK_MONOTONIC, ns
  int quiet_looks_ = 0;          // one behind the other
};

}  // namespace gnomon::outside
