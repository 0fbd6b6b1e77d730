// Writes what the kernel's clock has told into the experiment. In gnomon-sampler.
#include "libcollector/outside/sample_writer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "libcollector/core/atomic.h"
#include "libcollector/outside/process_facts.h"

namespace gnomon::outside {
namespace {

using collector::atomic;

constexpr std::uint32_t kMostKernelFrames = 128;
ProcessObjects* objects = nullptr;  // the unwinder asks for tables by a plain function

// The number that a thread has in the innermost pid namespace (proc_pid_status(5), NSpid).
std::uint32_t own_number_of(std::uint32_t thread) {
  const std::string numbers = status_of(std::to_string(thread), "NSpid");
  const auto last = numbers.find_last_of(" 	") + 1;
  return numbers.empty() ? thread
                         : static_cast<std::uint32_t>(std::strtoul(&numbers[last], nullptr, 10));
}

}  // namespace

bool SampleWriter::open() {
  objects = &objects_;
  const auto find = [](std::uint64_t pc, collector::FrameTable& found) {
    return objects->find_table(pc, found);
  };
  return unwinder_.open(find, collector::as_roots(page_.roots));
}

std::optional<SampleWriter::Written> SampleWriter::put(const Sample& sample, const Tick& tick) {
  collector::Writer* writer = recorder_.enter();
  if (!writer) return std::nullopt;
  format::ClockSample record{};
  const auto state = sample.is_of_kernel ? format::ThreadState::system : format::ThreadState::user;
  Copy copy;
  if (const auto at = threads_.find(sample.origin.thread);
      at != threads_.end() && at->second.has_ended)
    threads_.erase(at);
  record.head.thread = number_of(sample.origin.thread);
  record.head.time = sample.origin.time;
  record.head.stack = stack_of(sample, objects_.epoch_at(sample.origin.time), *writer, &copy,
                               tick.is_in_watch ? Leaf::watch : Leaf::as_sampled);
  record.head.cpu = static_cast<std::uint16_t>(sample.origin.cpu);
  record.head.state = static_cast<std::uint8_t>(state);
  record.weight = tick.weight;
  record.parallelism = tick.parallelism;
  const bool is_written = record.head.stack && recorder_.put(*writer, format::kClockSample, record);
  recorder_.leave(*writer);
  if (!is_written) return std::nullopt;
  return Written{
      {tick.weight, record.head.stack, state, record.head.cpu, tick.parallelism, record.head.time},
      copy};
}

std::uint32_t SampleWriter::stack_of(format::Activity activity, collector::Writer& writer) {
  writer.frames[0] = format::activity_frame(activity);
  return recorder_.intern_at(0, writer, 1, 0, [](std::uint64_t, collector::Writer&) {});
}

// What nothing tells the place of gets a call stack of one frame, which is no code.
void SampleWriter::put(format::ClockSample& record, collector::Writer& writer,
                       format::Activity activity) {
  record.head.flags = format::kRest;
  if (record.head.stack == 0) record.head.stack = stack_of(activity, writer);
  if (record.head.stack) recorder_.put(writer, format::kClockSample, record);
}

void SampleWriter::put(const Rest& rest, std::uint64_t time) {
  collector::Writer* writer = recorder_.enter();
  if (!writer) return;
  format::ClockSample record{};
  record.head.thread = number_of(rest.thread);
  record.head.time = time;
  record.head.stack = rest.stack;
  record.head.cpu = rest.cpu;
  record.head.state = static_cast<std::uint8_t>(rest.state);
  record.weight = rest.weight;
  record.parallelism = rest.parallelism;
  put(record, *writer, rest.activity);
  recorder_.leave(*writer);
}

void SampleWriter::put(const OffCpu& off) {
  collector::Writer* writer = recorder_.enter();
  if (!writer) return;
  format::ClockSample record{};
  record.head.thread = number_of(off.thread);
  record.head.time = off.end;
  record.head.stack = off.stack;
  record.head.cpu = format::kNoCpu;
  record.head.state = static_cast<std::uint8_t>(off.state);
  record.weight = off.weight;
  std::memcpy(record.length, &off.length, sizeof record.length);
  put(record, *writer, format::Activity::waiting);
  recorder_.leave(*writer);
}

void SampleWriter::put(const CpuUse::Stretch& stretch) {
  collector::Writer* writer = recorder_.enter();
  if (!writer) return;
  format::CpuUse record{};
  record.head.thread = wanted_.own_number;
  record.head.time = stretch.end;
  record.head.cpu = format::kNoCpu;
  record.length = stretch.length;
  record.idle = stretch.idle;
  recorder_.put(*writer, format::kCpuUse, record);
  recorder_.leave(*writer);
}

void SampleWriter::put(const format::EventHead& head, const Counted& counted, std::uint64_t address,
                       collector::Writer& writer) {
  if (head.stack == 0) return;
  if (counted.kind < format::kFirstCounter) {
    format::Touch record{head, counted.weight, counted.number, 0};
    recorder_.put(writer, counted.kind, record);
    return;
  }
  format::CounterEvent record{head, counted.weight, address};
  format::EventKind kind = *format::find_event_kind(format::kFirstCounter);
  kind.id = counted.kind;
  recorder_.put(writer, kind, record);
}

void SampleWriter::put(const Sample& sample, const Counted& counted) {
  collector::Writer* writer = recorder_.enter();
  if (!writer) return;
  format::EventHead head{};
  head.thread = number_of(sample.origin.thread);
  head.time = sample.origin.time;
  head.stack = stack_of(sample, objects_.epoch_at(sample.origin.time), *writer, nullptr,
                        counted.is_behind ? Leaf::instruction_before : Leaf::as_sampled);
  head.cpu = static_cast<std::uint16_t>(sample.origin.cpu);
  head.state = static_cast<std::uint8_t>(sample.is_of_kernel ? format::ThreadState::system
                                                             : format::ThreadState::user);
  put(head, counted, sample.address, *writer);
  recorder_.leave(*writer);
}

void SampleWriter::put(const Counted& counted, format::Activity activity, std::uint64_t time) {
  collector::Writer* writer = recorder_.enter();
  if (!writer) return;
  format::EventHead head{};
  head.thread = wanted_.own_number;
  head.time = time;
  head.cpu = format::kNoCpu;
  head.flags = format::kRest;
  head.stack = stack_of(activity, *writer);
  put(head, counted, 0, *writer);
  recorder_.leave(*writer);
}

std::uint32_t SampleWriter::place_of_switch(const Sample& sample) {
  kernel_.begin_reading();
  const std::uint32_t stack = place_of(sample);
  const auto [at, is_new] = switches_.try_emplace(stack);
  if (is_new) at->second.kernel.assign(sample.kernel.begin(), sample.kernel.end());
  return stack;
}

format::ThreadState SampleWriter::reason_of(std::uint32_t stack) {
  const auto found = switches_.find(stack);
  if (stack == 0 || found == switches_.end()) return format::ThreadState::blocked;
  Switch& known = found->second;
  if (known.reason != format::ThreadState::unknown) return known.reason;
  known.reason = kernel_.has_names() && !known.kernel.empty() ? format::ThreadState::other_wait
                                                              : format::ThreadState::blocked;
  for (const std::uint64_t pc : known.kernel)
    if (const auto state = kernel_.wait_in(pc); state != format::ThreadState::unknown) {
      known.reason = state;
      break;
    }
  known.kernel = {};
  return known.reason;
}

std::uint32_t SampleWriter::place_of(const Sample& sample) {
  collector::Writer* writer = recorder_.enter();
  if (!writer) return 0;
  const std::uint32_t stack =
      stack_of(sample, objects_.epoch_at(sample.origin.time), *writer, nullptr);
  recorder_.leave(*writer);
  return stack;
}

// A caller is where its call is, as of frames of the user's.
std::uint32_t SampleWriter::put_inner_frames(const Sample& sample, Leaf leaf,
                                             std::uint64_t* frames) {
  if (leaf == Leaf::watch) {
    frames[0] = format::activity_frame(format::Activity::watch);
    return 1;
  }
  const auto count =
      static_cast<std::uint32_t>(std::min<std::size_t>(sample.kernel.size(), kMostKernelFrames));
  for (std::uint32_t i = 0; i < count; ++i) {
    frames[i] = sample.kernel[i] - (i == 0 ? 0 : 1);
    kernel_.note(frames[i]);
  }
  return count;
}

// A copy that begins at no multiple of a word cannot be read as one.
collector::Walked SampleWriter::walk(const Sample& sample, collector::Writer& writer,
                                     std::uint32_t inner) {
  const std::uint64_t sp = sample.registers[collector::kSavedRsp];
  collector::ThreadStacks stacks;
  stacks.shift = reinterpret_cast<std::uint64_t>(sample.stack) - sp;
  if (sample.stack && sp % 8 == 0) stacks.own = {sp, sp + sample.stack_bytes};
  collector::LoadedHold hold;
  return unwinder_.walk({sample.registers, stacks}, writer.frames + inner,
                        std::min(wanted_.depth, collector::kMaxFrames - inner), hold);
}

// known: what the copy alone tells. What lies beyond is believed if the outermost known frame still
// stands there, perhaps in another call. Its callers may be others nevertheless, so they count as
// guessed.
collector::Walked SampleWriter::walk_beyond(const Sample& sample, collector::Writer& writer,
                                            std::uint32_t inner, collector::Walked known) {
  using format::WalkEnd;
  for (;;) {
    Sample longer = sample;
    std::uint64_t call = 0;
    const auto found = outer_.extend(longer, known, call);
    if (found == OuterStack::Found::nothing) known.end = WalkEnd::foreign_stack;
    if (found != OuterStack::Found::more ||
        !unwinder_.is_one_function(writer.frames[inner + known.count - 1], call - 1))
      return known;
    collector::Walked walked = walk(longer, writer, inner);
    walked.guessed = true;
    if (walked.end == WalkEnd::whole || walked.end == WalkEnd::depth) return walked;
    if (walked.end != WalkEnd::beyond_copy || !outer_.ask_for_more()) return known;
  }
}

// known: it ended at a function that finds its frame by rbp, which is not known. That points to a
// word of the frame behind which the return address of a call to the function stands. A place
// counts if unwind information leads from there to the outermost function.
collector::Walked SampleWriter::walk_without_fp(const Sample& sample, collector::Writer& writer,
                                                std::uint32_t inner, collector::Walked known) {
  constexpr std::uint64_t kAligned = 16, kScanned = 8192;  // bytes
  constexpr int kTried = 16;
  const std::uint64_t sp = sample.registers[collector::kSavedRsp];
  const std::uint64_t pc = writer.frames[inner + known.count - 1];
  const std::uint64_t end = std::min(known.sp + kScanned, sp + sample.stack_bytes);
  Sample tried = sample;
  int tries = 0;
  for (std::uint64_t fp = (known.sp + kAligned - 1) & ~(kAligned - 1);
       fp + kAligned <= end && tries < kTried; fp += kAligned) {
    std::uint64_t back = 0;
    std::memcpy(&back, sample.stack + (fp + sizeof back - sp), sizeof back);
    if (!unwinder_.may_return_from(back, pc)) continue;
    ++tries;
    tried.registers[collector::kSavedRbp] = fp;
    collector::Walked walked = walk(tried, writer, inner);
    walked.guessed = true;
    if (!walked.truncated()) return walked;
  }
  known.end = format::WalkEnd::cut;
  return known;
}

// A thread that the kernel has taken everything of the user's from has frames of the kernel's
// alone.
std::uint32_t SampleWriter::stack_of(const Sample& sample, std::uint32_t epoch,
                                     collector::Writer& writer, Copy* copy, Leaf leaf) {
  const std::uint32_t inner = put_inner_frames(sample, leaf, writer.frames);
  const auto note = [epoch](std::uint64_t pc, collector::Writer&) {
    if (format::pc_tag(pc) == 0) objects->note_frame(pc, epoch);
  };
  if (!sample.has_registers) {
    writer.frames[inner] = format::activity_frame(format::Activity::system);
    return recorder_.intern_at(epoch, writer, inner + 1, 0, note);
  }
  collector::Walked walked = walk(sample, writer, inner);
  const bool is_beyond = walked.end == format::WalkEnd::beyond_copy;
  // A larger copy tells no more of a stack that ends before it does.
  if (copy) copy->is_cut = is_beyond && !sample.stack_is_short;
  if (copy && !walked.truncated()) copy->used = walked.sp - sample.registers[collector::kSavedRsp];
  if (sample.has_few_registers && walked.end == format::WalkEnd::damaged)
    walked = walk_without_fp(sample, writer, inner, walked);
  if (is_beyond && copy)
    walked = walk_beyond(sample, writer, inner, walked);
  else if (is_beyond && sample.stack_is_short)
    walked.end = format::WalkEnd::foreign_stack;
  if (leaf == Leaf::instruction_before && inner + walked.count != 0) --writer.frames[0];
  return recorder_.intern_at(epoch, writer, inner + walked.count,
                             format::walk_mark(walked.end, walked.guessed), note);
}

std::uint32_t SampleWriter::number_of(std::uint32_t thread) {
  const auto [at, is_new] = threads_.try_emplace(thread, Thread{thread});
  if (!is_new) return at->second.number;
  atomic(page_.threads).fetch_add(1);
  if (wanted_.own_number != static_cast<std::uint32_t>(wanted_.pid))
    at->second.number = own_number_of(thread);
  return at->second.number;
}

void SampleWriter::forget(std::uint32_t thread) {
  if (const auto at = threads_.find(thread); at != threads_.end()) at->second.has_ended = true;
}

}  // namespace gnomon::outside
