// One insertion: the library is loaded into a running process, or called there again. Prepares the
// gate, talks with the collector and reads the result. Knows no debugger: back-ends stop, write and
// resume. Any thread.
#include "injector/attach/insertion.h"

#include <cpuid.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "injector/attach/checks/process_checks.h"
#include "injector/attach/remote/file_handover.h"
#include "injector/attach/remote/namespace_view.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/attach/remote/remote_symbols.h"
#include "injector/base/runtimes.h"
#include "libcollector/format/control.h"

namespace gnomon::injector {
namespace {

using format::Attached;
using format::AttachRequest;

// Intel SDM 1, "XSAVE feature set": EBX is the size of the enabled components.
bool extended_state_fits() {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
  return __get_cpuid_count(0xd, 0, &a, &b, &c, &d) && b <= kExtendedBytes;
}

// Notes the size of the extended state in a signal frame. The kernel stores the components that
// XCR0 enables, each at its place (Intel SDM 1, "XSAVE-Managed State"), without AMX unless asked
// for it.
void describe_state(Gate& gate) {
  constexpr std::uint32_t kHeaderEnd = 576;
  std::uint32_t low = 0, high = 0, end = kHeaderEnd;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  gate.features = std::uint64_t{high} << 32 | low;
  for (std::uint32_t i = 2; i < 63; ++i) {
    std::uint32_t bytes = 0, at = 0, c = 0, d = 0;
    if (((gate.features & ~std::uint64_t{STATE_TILES}) >> i & 1) != 0 &&
        __get_cpuid_count(0xd, i, &bytes, &at, &c, &d))
      end = std::max(end, at + bytes);
  }
  gate.state_bytes = end;
}

template <std::size_t N>
bool copy(const std::string& from, char (&to)[N]) {
  if (from.size() >= N) return false;
  std::memcpy(to, from.c_str(), from.size() + 1);
  return true;
}

template <std::size_t N>
std::string text_of(const char (&bytes)[N]) {
  return {bytes, strnlen(bytes, N)};
}

Fault fault_of(const AttachRequest& request) {
  switch (static_cast<Attached>(request.answer)) {
    case Attached::no_directory:
      return {"the process cannot write " + text_of(request.stem) + ".N.er (" +
                  std::strerror(request.error) + ")",
              "choose a directory that it may write to"};
    case Attached::already:
      if (request.directory[0] == 0)
        return {"another program is beginning or ending a recording of it", "try again"};
      return {"it is recorded already, to " + text_of(request.directory),
              "`gnomon collect -P " + std::to_string(request.seen_pid) + " -e` ends that"};
    case Attached::failed:
      if (const auto* row = format::find_failure(request.failure))
        return {std::string(row->what), std::string(row->next)};
      break;
    default:
      for (const format::RefusalText& row : format::kRefusals)
        if (static_cast<std::uint32_t>(row.answer) == request.answer)
          return {std::string(row.what), std::string(row.next)};
  }
  return {"the collector could not begin", ""};
}

Fault unfinished(pid_t pid, const Gate& gate) {
  const std::string limits = "see its limits in /proc/" + std::to_string(pid) + "/limits: ";
  if (const auto error = static_cast<int>(gate.created); error != 0)
    return {std::string("the process could not make a thread (") + std::strerror(error) + ")",
            limits + "processes, address space"};
  if (gate.taking < 0)
    return {"the process cannot open libcollector.so by path, and could not receive it (" +
                std::string(std::strerror(static_cast<int>(-gate.taking))) + ")",
            limits + "open files"};
  return {"the process could not load libcollector.so: " + text_of(gate.error_text),
          "start the program from the debugger instead"};
}

// Returns true if the process cannot open the library or the directory by path.
Result<bool> needs_handover(pid_t pid, const Settings& settings) {
  const std::string directory = settings.stem.substr(0, settings.stem.rfind('/') + 1);
  if (can_use(pid, settings.library) && can_use(pid, directory)) return false;
  if (auto can = check_handover(pid); !can) return tl::unexpected(can.error());
  return true;
}

// Prepares the gate to receive the library and the directory as descriptors.
void expect_files(Gate& gate, std::uint64_t at) {
  gate.awaited = {-1, POLLIN, 0};
  gate.data = {reinterpret_cast<void*>(at + offsetof(Gate, path)), 1};
  gate.message = {};
  gate.message.msg_iov = reinterpret_cast<iovec*>(at + offsetof(Gate, data));
  gate.message.msg_iovlen = 1;
  gate.message.msg_control = reinterpret_cast<void*>(at + offsetof(Gate, control));
  gate.message.msg_controllen = GATE_HANDED_BYTES;
}

bool fill(AttachRequest& request, pid_t pid, const Settings& settings) {
  request.session = settings.session;
  std::memcpy(request.settings, format::settings_text(settings.values).text,
              sizeof request.settings);
  request.seen_pid = static_cast<std::uint32_t>(pid);
  return copy(proc_link(getpid(), "ns/pid"), request.seen_namespace) &&
         copy(settings.stem, request.stem) && copy(settings.library, request.library);
}

}  // namespace

// Fills in what the gate's code needs for either purpose.
Result<Insertion> Insertion::prepare_call(pid_t pid, const char* function) {
  if (!extended_state_fits())
    return fault("this CPU's vector registers cannot be saved (XSAVE)",
                 "start the program from the debugger instead");
  const auto functions = find_loader_functions(pid);
  if (!functions) return tl::unexpected(functions.error());
  Insertion made;
  made.pid_ = pid;
  made.gate_ = std::make_unique<Gate>();
  Gate& gate = *made.gate_;
  gate.create = functions->pthread_create;
  gate.detach = functions->pthread_detach;
  gate.open = functions->dlopen;
  gate.find = functions->dlsym;
  gate.error = functions->dlerror;
  gate.all_signals = ~0ull;
  describe_state(gate);
  // pthread_cancel(3) and setuid(2) catch theirs when they first need them.
  constexpr std::uint64_t kOfLibc = 3ull << 31;
  gate.caught = number_in(proc_text(pid, "status"), "SigCgt", 16).value_or(0) | kOfLibc;
  gate.taking = TAKING_NOTHING;
  std::fill(std::begin(gate.handed), std::end(gate.handed), -1);
  std::memcpy(gate.name, function, std::strlen(function) + 1);
  gate.request.bytes = sizeof gate.request;
  gate.request.version = format::kAttachVersion;
  return made;
}

Result<Insertion> Insertion::prepare(pid_t pid, const Settings& settings) {
  if (auto fits = check_process(pid, settings.library); !fits) return tl::unexpected(fits.error());
  const auto hands = needs_handover(pid, settings);
  if (!hands) return tl::unexpected(hands.error());
  auto made = prepare_call(pid, format::kAttachFunction);
  if (!made) return made;
  made->gate_->taking = *hands ? TAKING_WANTED : TAKING_NOTHING;
  made->library_ = settings.library;
  made->stem_ = settings.stem;
  made->first_number_ = settings.values[format::Setting::number];
  if (!fill(made->gate_->request, pid, settings))
    return fault("the path " + settings.stem + " is too long", "choose another directory");
  return made;
}

Result<Insertion> Insertion::prepare_release(pid_t pid, std::uint64_t session) {
  const auto function = find_release(pid);
  if (!function) return tl::unexpected(function.error());
  auto made = prepare_call(pid, format::kReleaseFunction);
  if (!made) return made;
  made->releases_ = true;
  made->gate_->function = *function;
  made->gate_->request.session = session;
  return made;
}

void Insertion::place(std::uint64_t gate, std::uint64_t code, const Stopped& thread,
                      const Resume& resume, bool stays) {
  constexpr std::uint64_t kTurns =
      1ull << 29;  // about 10 s, in case the back-end never returns for the thread
  gate_at_ = gate;
  code_at_ = code;
  gate_->turns = stays ? kTurns : 1;
  gate_->restart = releases_ ? restart_number(thread) : 0;  // before that nothing ticks
  gate_->request.borrowed_begin = gate;
  gate_->request.borrowed_end = gate + kGateBytes;
  gate_->request.code_begin = code;
  gate_->request.code_end = code + kCodeBytes;
  gate_->helper = code + gate_helper_offset();
  constexpr std::uint64_t kFlags = 7;  // asm/ucontext.h: UC_FP_XSTATE and so on
  constexpr std::uint64_t kSegments = 0x33 | 0x2bull << 48;  // cs and ss of 64-bit code
  const auto set = [&](std::size_t at, std::uint64_t value) { gate_->context[at / 8] = value; };
  set(0, kFlags);
  set(CONTEXT_RSP, thread.rsp());
  set(CONTEXT_RIP, resume.rip);
  set(CONTEXT_SEGMENTS, kSegments);
  set(CONTEXT_STATE, gate + GATE_EXTENDED);
  expect_files(*gate_, gate);
  code_ = gate_code(gate, thread.rsp(), resume.rip);
}

void Insertion::comes_masked(std::uint64_t mask) {
  gate_->mask = mask;
  gate_->masked = 1;
}

bool Insertion::is_staying(std::uint64_t pc) const {
  return pc >= code_at_ + gate_stay_offset() && pc < code_at_ + gate_helper_offset();
}

Insertion::Progress Insertion::progress() const {
  const auto word = [&](std::uint64_t offset) {
    return read_value<std::uint64_t>(pid_, gate_at_ + offset).value_or(0);
  };
  if (word(GATE_LEFT) == 0) return Progress::borrowed;
  if (word(GATE_CREATED) != 0 || word(GATE_STEP) == STEP_DONE) return Progress::done;
  const auto unblocking =
      read_value<std::uint32_t>(pid_, gate_at_ + offsetof(Gate, request.unblocking));
  return unblocking == static_cast<std::uint32_t>(format::Unblocking::asked) ? Progress::asks
                                                                             : Progress::loading;
}

bool Insertion::is_there() const {
  return read_value<std::uint64_t>(pid_, gate_at_ + offsetof(Gate, request.session)) ==
         gate_->request.session;
}

pid_t Insertion::helper() const {
  const auto helper = read_value<std::uint64_t>(pid_, gate_at_ + GATE_HELPER_TID).value_or(0);
  return helper == 0 ? 0 : thread_by_own_number(pid_, static_cast<pid_t>(helper));
}

void Insertion::hand_over() {
  if (gate_->taking != TAKING_WANTED || !made_.empty() || !handed_ ||
      read_value<std::int64_t>(pid_, gate_at_ + GATE_TAKING) != TAKING_WAITS)
    return;
  const auto socket = read_value<std::int32_t>(pid_, gate_at_ + GATE_PAIR + sizeof(std::int32_t));
  if (!socket) return;  // it has ended
  const auto made = make_experiment(stem_, first_number_, file_owner(pid_));
  if (!made) {
    handed_ = tl::unexpected(made.error());
    hand_nothing(pid_, *socket);
    return;
  }
  made_ = *made;
  write_memory(pid_, gate_at_ + offsetof(Gate, request.directory), made_.c_str(), made_.size() + 1);
  handed_ = hand(pid_, *socket, library_, made_);
}

void Insertion::note_held(const std::vector<pid_t>& threads) const {
  std::vector<std::uint32_t> held;
  for (const pid_t tid : threads) held.push_back(static_cast<std::uint32_t>(own_number(pid_, tid)));
  held.resize(std::min(held.size(), format::kHeldThreads));
  const auto count = static_cast<std::uint32_t>(held.size());
  const std::uint32_t yes = 1;
  write_memory(pid_, gate_at_ + offsetof(Gate, request.debugged), &yes, sizeof yes);
  write_memory(pid_, gate_at_ + offsetof(Gate, request.held), held.data(), count * sizeof held[0]);
  write_memory(pid_, gate_at_ + offsetof(Gate, request.held_count), &count, sizeof count);
}

std::vector<format::BlockingThread> Insertion::blocking_threads() const {
  const auto listed = read_value<std::uint32_t>(pid_, gate_at_ + offsetof(Gate, request.listed));
  std::vector<format::BlockingThread> threads(
      std::min<std::size_t>(listed.value_or(0), format::kBlockingThreads));
  if (!read_memory(pid_, gate_at_ + offsetof(Gate, request.list), threads.data(),
                   threads.size() * sizeof threads[0]))
    threads.clear();
  return threads;
}

// The borrowed thread's stack area is free by then.
Insertion::Places Insertion::mask_gate(std::uint64_t index) const {
  static_assert(kMostMaskGates * sizeof(MaskGate) < kBorrowedStackBytes);
  return {gate_at_ + sizeof(Gate) + index * sizeof(MaskGate),
          code_at_ + kFirstMaskGate + index * kMaskGateBytes};
}

void Insertion::answer_unblocked(const std::vector<format::BlockingThread>& threads) const {
  write_memory(pid_, gate_at_ + offsetof(Gate, request.list), threads.data(),
               threads.size() * sizeof threads[0]);
  const auto answer = static_cast<std::uint32_t>(format::Unblocking::answered);
  write_memory(pid_, gate_at_ + offsetof(Gate, request.unblocking), &answer, sizeof answer);
}

Result<AttachResult> Insertion::result() const {
  const auto seen = std::make_unique<Gate>();
  if (!read_memory(pid_, gate_at_, seen.get(), sizeof *seen) ||
      seen->request.session != gate_->request.session)
    return tl::unexpected(loss());
  auto result = result_in(*seen);
  if (!result) forget_experiment();
  return result;
}

Fault Insertion::loss() const {
  forget_experiment();
  if (!threads_of(pid_).empty()) return another_program();
  return {"process " + std::to_string(pid_) + " ended meanwhile", ""};
}

// Removes the experiment's directory if it is empty.
void Insertion::forget_experiment() const {
  if (!made_.empty()) rmdir(made_.c_str());
}

Result<AttachResult> Insertion::result_in(const Gate& gate) const {
  if (!handed_) return tl::unexpected(handed_.error());
  if (gate.created != 0 || gate.taking < 0 || gate.function == 0)
    return tl::unexpected(unfinished(pid_, gate));
  if (static_cast<Attached>(gate.answer) != (releases_ ? Attached::released : Attached::recording))
    return tl::unexpected(fault_of(gate.request));
  AttachResult result;
  result.experiment = text_of(gate.request.directory);
  result.threads = gate.request.threads;
  result.blocking = gate.request.blocking;
  result.refused = gate.request.refused;
  result.unbound = gate.request.unbound;
  result.kept_threads = gate.request.kept_threads;
  result.kept_events = gate.request.kept_events;
  result.thread_maker = text_of(gate.request.thread_maker);
  if (const Runtime* runtime = runtime_in(pid_)) result.runtime = runtime->note;
  return result;
}

std::string Insertion::step() const {
  switch (read_value<std::uint64_t>(pid_, gate_at_ + GATE_STEP).value_or(0)) {
    case STEP_RUNS:
      return "loading libcollector.so";
    case STEP_LOADED:
    case STEP_CALLED:
      return releases_ ? "ending the recording" : "setting up the recording";
    default:
      return "making a thread";
  }
}

std::string Insertion::outlook() const {
  if (releases_) return "the process gets everything back by itself once it gets there";
  return "recording begins by itself once it gets there";
}

}  // namespace gnomon::injector
