// The call stack at which the program has stopped, with what its frames cost. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "reader/report/asked/asked.h"
#include "reader/report/notes/losses.h"
#include "reader/report/stop/stop_reports.h"

namespace gnomon::reader {
namespace {

struct Matched {
  std::optional<FunctionId> function;  // none: nothing is known of the frame itself
  CallId node = CallId::none;          // of this call path; none: nothing was recorded of that
};

// level: how many inner frames share the frame's code.
FunctionId function_of(Analysis& analysis, std::uint64_t code, std::size_t level,
                       const Interrupt& interrupt) {
  const Epoch epoch = analysis.newest_epoch();
  if (analysis.has_inlines()) {
    const auto& chain = analysis.code().inlined_at(code, epoch, interrupt);
    if (level < chain.size() && chain.size() > 1) return chain[chain.size() - 1 - level].function;
  }
  return analysis.function_at(code, epoch);
}

std::vector<Matched> functions_of(Analysis& analysis, const Backtrace& backtrace,
                                  const Interrupt& interrupt) {
  std::vector<Matched> frames;
  std::size_t level = 0;
  for (std::size_t i = 0; i < backtrace.size(); ++i) {
    level = i != 0 && backtrace[i - 1].is_inlined ? level + 1 : 0;
    frames.emplace_back();
    if (!backtrace[i].is_inlined || analysis.has_inlines())
      frames.back().function = function_of(analysis, code_of(backtrace, i), level, interrupt);
  }
  return frames;
}

// What a node calls stands behind it, and ends where a node has a caller further out.
CallId called(const CallTree& tree, CallId caller, FunctionId function) {
  for (std::uint32_t n = index(caller) + 1; n < tree.size(); ++n) {
    const CallTree::Node& node = tree.node(CallId{n});
    if (node.parent == caller && node.function == function) return CallId{n};
    if (index(node.parent) < index(caller)) break;
  }
  return CallId::none;
}

// The outermost functions of the recorded call stacks. Under a launch the recorded stacks of
// threads begin at collector_root, which is no frame of the program's.
std::map<FunctionId, CallId> roots_of(const Profile& profile) {
  const CallTree& tree = profile.tree();
  const auto is_of_thread = [&](CallId caller) {
    return tree.node(caller).parent == CallId::total &&
           profile.name(tree.node(caller).function) == "collector_root";
  };
  std::map<FunctionId, CallId> roots;
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    const CallTree::Node& node = tree.node(CallId{n});
    if (CallId{n} != CallId::total && (node.parent == CallId::total || is_of_thread(node.parent)))
      roots.emplace(node.function, CallId{n});
  }
  return roots;
}

struct Path {
  std::size_t root;           // frame
  std::vector<CallId> nodes;  // from there inward, those of frames without a function left out
  std::size_t innermost;      // frame
};

Path path_from(const CallTree& tree, const std::vector<Matched>& frames, std::size_t root,
               CallId at) {
  Path path{root, {at}, root};
  for (std::size_t i = root; i-- > 0;) {
    if (!frames[i].function) continue;
    at = called(tree, at, *frames[i].function);
    if (at == CallId::none) break;
    path.nodes.push_back(at);
    path.innermost = i;
  }
  return path;
}

// A debugger shows what has called the outermost recorded function. Some recorded stacks begin
// further out or further in than others: a constructor's at `_start`, cut ones anywhere. The path
// that reaches furthest inward counts, of several the outermost.
void find_path(const Profile& profile, std::vector<Matched>& frames) {
  const CallTree& tree = profile.tree();
  std::map<FunctionId, CallId> roots = roots_of(profile);
  std::optional<Path> best;
  for (std::size_t i = frames.size(); i-- > 0 && !roots.empty();) {
    if (!frames[i].function) continue;
    const auto root = roots.extract(*frames[i].function);  // of a recursion the outermost
    if (root.empty()) continue;
    Path path = path_from(tree, frames, i, root.mapped());
    if (!best || path.innermost < best->innermost) best = std::move(path);
  }
  if (!best) return;
  std::size_t next = 0;
  for (std::size_t i = best->root + 1; i-- > best->innermost;)
    if (frames[i].function) frames[i].node = best->nodes[next++];
}

// What called the outermost recorded function has no cost that is known.
void leave_out_beyond_root(std::vector<Matched>& frames) {
  const auto root = std::find_if(frames.rbegin(), frames.rend(),
                                 [](const Matched& frame) { return frame.node != CallId::none; });
  if (root == frames.rend()) return;
  for (auto frame = frames.rbegin(); frame != root; ++frame) frame->function.reset();
}

class WhereTable {
 public:
  WhereTable(const Profile& profile, const AddressSpace& space, MetricId metric)
      : profile_(profile), space_(space), metric_(metric) {
    const MetricList list{{MetricColumn{Flavour::exclusive, metric, false},
                           MetricColumn{Flavour::inclusive, metric, false},
                           MetricColumn{Flavour::attributed, metric, false},
                           MetricColumn{Flavour::attributed, metric, true}, Static::name}};
    table.columns = columns_of(list);
    // Of the path there are the value and its share of all.
    table.columns.insert(table.columns.begin() + 3, table.columns[2]);
    Column& path = table.columns[3];
    path.id = fmt::format("path_{}", row(metric).key);
    path.title.front() = "Path";
    table.columns[4].id = path.id + "_percent";
    table.columns.insert(table.columns.begin() + 5, {"frame", {}, false, Type::count});
  }

  // caller: the function that is charged with this frame; none: the frame has no known caller.
  void add(const BacktraceFrame& frame, std::size_t number, const Matched& matched,
           FunctionId caller) {
    Row cells(5, Cell(Empty{}));
    if (matched.function) {
      const FunctionId function = *matched.function;
      cells[0] = value_of(Flavour::exclusive, function);
      cells[1] = value_of(Flavour::inclusive, function);
      cells[2] = value_cell(metric_, attributed(caller, function));
      const std::uint64_t path = matched.node == CallId::none
                                     ? 0
                                     : profile_.values(metric_).inclusive[index(matched.node)];
      cells[3] = value_cell(metric_, path);
      cells[4] = share_cell(path, profile_.values(metric_).total);
    }
    cells.emplace_back(std::uint64_t{number});
    cells.emplace_back(Phrase{fmt::format("{} #{} ", frame.is_selected ? '*' : ' ', number),
                              name_of(frame, matched),
                              frame.place.empty() ? "" : " at " + frame.place});
    table.rows.push_back(std::move(cells));
  }

  Table table;

 private:
  // As other reports have it, where the function has a name.
  std::string name_of(const BacktraceFrame& frame, const Matched& matched) const {
    if (!matched.function) return frame.name;
    const Function& function = space_.function(*matched.function);
    if (function.object.empty() || function.is_unnamed) return frame.name;
    return is_known(*matched.function) ? profile_.name(*matched.function) : function.name;
  }
  // A function that no sample has met may be unknown to the profile.
  bool is_known(FunctionId function) const { return index(function) < profile_.functions(); }
  Cell value_of(Flavour flavour, FunctionId function) const {
    return value_cell(metric_, is_known(function) ? profile_.value(flavour, metric_, function) : 0);
  }
  std::uint64_t attributed(FunctionId caller, FunctionId function) const {
    if (!is_known(function)) return 0;
    for (const Attributed& each : profile_.neighbours_by(metric_)[index(function)].callers)
      if (each.function == caller) return each.value;
    return 0;
  }

  const Profile& profile_;
  const AddressSpace& space_;
  MetricId metric_;
};

// The function that calls a frame's function: on the recorded stacks, <Total> for the outermost;
// where no recorded stack has the frame, that of the next outer frame.
FunctionId caller_of(const std::vector<Matched>& frames, std::size_t number,
                     const Profile& profile) {
  const CallTree& tree = profile.tree();
  if (const CallId node = frames[number].node; node != CallId::none) {
    const CallId caller = tree.node(node).parent;
    return caller == CallId::total ? profile.total() : tree.node(caller).function;
  }
  const auto outer = std::find_if(frames.begin() + static_cast<std::ptrdiff_t>(number) + 1,
                                  frames.end(), [](const Matched& each) { return each.function; });
  return outer == frames.end() ? profile.total() : *outer->function;
}

}  // namespace

Result<Table> where_report(Analysis& analysis, const View& view, const Backtrace& backtrace) {
  const auto asked = ask(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const Profile& profile = *asked->profile;
  WhereTable where(profile, analysis.address_space(), leading_metric(asked->shown));
  std::vector<Matched> frames = functions_of(analysis, backtrace, view.interrupt);
  if (view.interrupt.asked()) return interrupted();
  find_path(profile, frames);
  where.table.title =
      "Call stack at the stop: metrics of the functions, of the calls by the frame below, and of "
      "this path";
  where.table.notes = all_notes(analysis, profile, asked->shown);
  if (!analysis.has_inlines() &&
      std::any_of(backtrace.begin(), backtrace.end(), [](const auto& f) { return f.is_inlined; }))
    where.table.notes.emplace_back(
        "What is inlined counts for the function around it; `inlines on` shows inlined functions "
        "by themselves.");
  leave_out_beyond_root(frames);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (view.limit != 0 && i == view.limit) {
      where.table.left_out = {frames.size() - i, "frames"};
      break;
    }
    where.add(backtrace[i], i, frames[i], caller_of(frames, i, profile));
  }
  return std::move(where.table);
}

}  // namespace gnomon::reader
