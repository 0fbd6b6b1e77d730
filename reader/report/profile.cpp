// What every report on CPU time starts from: an experiment, its call tree and its functions. Any
// thread.
#include "reader/report/profile.h"

#include <algorithm>
#include <map>

#include "reader/experiment/stacks.h"
#include "reader/report/losses.h"

namespace gnomon::reader {
namespace {

tl::unexpected<Fault> stack_is_missing() {
  return fault("the experiment is damaged: an event's call stack is missing", "record again");
}

// The stacks of events, and the outer parts of those: a node's parent has a smaller number. Fault:
// an event names a stack that is not there.
Result<std::vector<bool>> stacks_met(const ClockSums& events, const Stacks& stacks) {
  std::vector<bool> met(stacks.size());
  for (std::uint32_t id = static_cast<std::uint32_t>(events.by_stack.size()); id-- > 1;) {
    const bool outer = id < met.size() && met[id];
    if (!outer && events.by_stack[id].samples == 0) continue;
    if (!stacks.contains(StackId{id})) return stack_is_missing();
    met[id] = true;
    met[index(stacks.parent(StackId{id}))] = true;
  }
  return met;
}

// What the stack table says of a call stack, in the profile's words.
struct Frames {
  std::vector<Frame> frames;  // by StackId
  std::vector<bool> cut;
};

Result<Frames> frames_of(const ClockSums& events, const Stacks& stacks, AddressSpace& space,
                         const Interrupt& interrupt) {
  constexpr std::uint32_t kAsk = 1024;
  const auto met = stacks_met(events, stacks);
  if (!met) return tl::unexpected(met.error());
  Frames all{std::vector<Frame>(met->size(), {0, Frame::kNone}), std::vector<bool>(met->size())};
  std::vector<std::uint32_t> epoch(met->size());
  for (std::uint32_t id = 1; id < met->size(); ++id) {
    if (id % kAsk == 0 && interrupt.asked()) return interrupted();
    if (!(*met)[id]) continue;
    const format::StackNode& node = stacks.node(StackId{id});
    if (format::is_epoch_mark(node.pc)) {
      const bool has_samples = id < events.by_stack.size() && events.by_stack[id].samples != 0;
      if (node.parent != 0 || has_samples) return stack_is_missing();
      epoch[id] = static_cast<std::uint32_t>(node.pc);
      continue;
    }
    epoch[id] = epoch[node.parent];
    const bool marker = node.pc == format::kTruncatedMarker;
    all.cut[id] = marker || all.cut[node.parent];
    // An epoch's mark is nobody's caller.
    const bool is_called = all.frames[node.parent].function != Frame::kNone;
    all.frames[id] = {is_called ? node.parent : 0, marker ? space.named("<Truncated-stack>")
                                                          : space.function_at(node.pc, epoch[id])};
  }
  return all;
}

struct Built {
  CallTree tree;
  Values exclusive;  // by node
  StackSum truncated;
};

Result<Built> build(const ClockSums& events, const Stacks& stacks, AddressSpace& space,
                    const Interrupt& interrupt) {
  const FunctionId total = space.named("<Total>");
  const auto all = frames_of(events, stacks, space, interrupt);
  if (!all) return tl::unexpected(all.error());
  std::vector<CallId> place;
  Built built{CallTree(total, all->frames, place), {}, {}};
  built.exclusive.resize(built.tree.size());
  for (std::uint32_t id = 1; id < std::min(place.size(), events.by_stack.size()); ++id) {
    const StackSum& sum = events.by_stack[id];
    built.exclusive[index(place[id])] += sum.time.value;
    if (!all->cut[id]) continue;
    built.truncated.time += sum.time;
    built.truncated.samples += sum.samples;
  }
  return built;
}

// Names that several functions share are told apart by their load object.
std::vector<std::string> names_of(const AddressSpace& space) {
  std::map<std::string, int> uses;
  for (std::uint32_t f = 0; f < space.size(); ++f) ++uses[space.function(FunctionId{f}).name];
  std::vector<std::string> names;
  for (std::uint32_t f = 0; f < space.size(); ++f) {
    const Function& function = space.function(FunctionId{f});
    const bool shared = uses[function.name] > 1 && !function.object.empty();
    const std::string object = function.object.substr(function.object.rfind('/') + 1);
    names.push_back(shared ? function.name + " (" + object + ")" : function.name);
  }
  return names;
}

std::vector<FunctionId> sorted(const Profile& profile) {
  std::vector<FunctionId> functions;
  for (std::uint32_t f = 0; f < profile.functions.inclusive.size(); ++f)
    if (profile.functions.inclusive[f] != 0 &&
        f != index(profile.tree.node(CallId::total).function))
      functions.push_back(FunctionId{f});
  std::sort(functions.begin(), functions.end(), [&](FunctionId a, FunctionId b) {
    const auto left = std::pair(profile.exclusive_of(b), profile.inclusive_of(b));
    const auto right = std::pair(profile.exclusive_of(a), profile.inclusive_of(a));
    if (left != right) return left < right;
    return profile.names[index(a)] < profile.names[index(b)];
  });
  return functions;
}

LiveFiles live_files_of(const Header& header) {
  if (life_of(header) != Life::running) return {};
  return LiveFiles("/proc/" + std::to_string(header.pid));
}

}  // namespace

Percent share(Nanoseconds part, Nanoseconds whole) {
  return {whole.value == 0 ? 0 : 100.0 * seconds(part) / seconds(whole)};
}

Result<Profile> open_profile(const std::string& directory, const Interrupt& interrupt) {
  auto recording = open_recording(directory, interrupt);
  if (!recording) return tl::unexpected(recording.error());
  auto& [experiment, events] = *recording;
  Stacks stacks;
  if (auto read = stacks.read_new(experiment, interrupt); !read)
    return tl::unexpected(read.error());
  // A call stack may lie in an object that was loaded since the map was read.
  if (auto again = open_experiment(directory)) experiment.objects = std::move(again->objects);
  AddressSpace space(experiment.objects, live_files_of(experiment.header), interrupt);
  auto built = build(events, stacks, space, interrupt);
  if (!built) return tl::unexpected(built.error());
  Values inclusive = inclusive_by_node(built->tree, built->exclusive);
  FunctionValues functions = by_function(built->tree, built->exclusive, inclusive);
  auto notes = loss_notes(experiment, events.total, built->truncated);
  for (const std::string& missing : space.faults()) notes.push_back("no symbols: " + missing);
  Profile profile{std::move(experiment),  events.total,
                  built->truncated,       names_of(space),
                  std::move(built->tree), std::move(built->exclusive),
                  std::move(inclusive),   std::move(functions),
                  std::move(notes),       {}};
  profile.by_weight = sorted(profile);
  return profile;
}

}  // namespace gnomon::reader
