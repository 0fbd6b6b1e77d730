// Commands that choose the events and load objects which reports are about, and list what there is
// to choose. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "commands/reports/report_call.h"

namespace gnomon::commands {
namespace {

using reader::Expansion;
using reader::SelectionKind;

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string selected_text(const Selection& selection) {
  const std::string all = selection.expression();
  return all.empty() ? "All events count.\n"
                     : fmt::format("Only events count for which this is true: {}\n", all);
}

Result<Answer> run_filters(Host& host, const Invocation& call) {
  Selection& selection = host.choice().selection;
  const std::string text = joined(call.arguments);
  if (!text.empty())
    if (auto set = selection.set_filter(text == "off" ? "" : text); !set)
      return tl::unexpected(set.error());
  return Answer{selected_text(selection), {}};
}

template <const SelectionKind& Kind>
Result<Answer> run_select(Host& host, const Invocation& call) {
  Selection& selection = host.choice().selection;
  if (!call.arguments.empty())
    if (auto selected = selection.select(Kind, call.arguments.front()); !selected)
      return tl::unexpected(selected.error());
  return Answer{selected_text(selection), {}};
}

template <const SelectionKind& Kind>
Result<Answer> run_selection_list(Host& host, const Invocation& call) {
  const std::string selected = host.choice().selection.selected(Kind);
  const auto report = [&](reader::Analysis& analysis, const reader::View& view) {
    return reader::selection_list(analysis, view, Kind, selected);
  };
  return report_by(host, call, all_events(host, call), report);
}

Result<Answer> index_of(Host& host, const Invocation& call, const std::string& name) {
  const auto object = reader::index_object_named(name, host.choice().index_objects);
  if (!object) return tl::unexpected(object.error());
  return report_list(host, call, [&](reader::Analysis& analysis, const reader::View& view) {
    return reader::index_report(analysis, view, *object);
  });
}

Result<Answer> run_threads(Host& host, const Invocation& call) {
  return index_of(host, call, "Threads");
}
Result<Answer> run_cpus(Host& host, const Invocation& call) { return index_of(host, call, "CPUs"); }
Result<Answer> run_seconds(Host& host, const Invocation& call) {
  return index_of(host, call, "Seconds");
}
Result<Answer> run_processes(Host& host, const Invocation& call) {
  return index_of(host, call, "Processes");
}

Result<Answer> run_indxobj(Host& host, const Invocation& call) {
  if (call.arguments.empty())
    return fault("no kind of index objects is named", "`indxobj_list` lists them");
  return index_of(host, call, call.arguments.front());
}

Result<Answer> run_indxobj_list(Host& host, const Invocation& call) {
  return render(host, call, reader::index_object_list(host.choice().index_objects));
}

Result<Answer> run_indxobj_define(Host& host, const Invocation& call) {
  std::vector<reader::IndexObject>& defined = host.choice().index_objects;
  if (call.arguments.size() < 2)
    return fault("a name and an expression are needed",
                 "for example `indxobj_define Tenths TSTAMP/100ms`");
  const reader::IndexObject object{call.arguments.front(),
                                   joined(std::span(call.arguments).subspan(1))};
  if (auto sound = reader::check_index_object(object); !sound) return tl::unexpected(sound.error());
  std::erase_if(defined, [&](const reader::IndexObject& each) { return each.name == object.name; });
  defined.push_back(object);
  return Answer{fmt::format("`indxobj {}` shows them.\n", object.name), {}};
}

Result<Answer> run_object_list(Host& host, const Invocation& call) {
  return report_by(host, call, [&](reader::Analysis& analysis, const reader::View&) {
    return reader::object_list(analysis, host.choice().expansions);
  });
}

// Returns false if there is an experiment, and no load object of it is called so.
bool may_exist(Host& host, const std::string& object) {
  const auto directory = host.experiment();
  const auto experiment = directory ? reader::open_experiment(*directory)
                                    : Result<reader::Experiment>(tl::unexpected(directory.error()));
  if (!experiment || object == "all") return true;
  return std::any_of(experiment->objects.begin(), experiment->objects.end(), [&](const auto& each) {
    return reader::Expansions::means(object, each.path);
  });
}

// LIST is all, or OBJECT[,OBJECT...]. Warns of what no load object is called: later ones may be.
Answer expand(Host& host, const std::string& list, Expansion expansion) {
  Answer answer;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string object = list.substr(begin, end - begin);
    begin = end + 1;
    if (object.empty()) continue;
    host.choice().expansions.choose(object, expansion);
    if (!may_exist(host, object))
      answer.warnings.push_back(
          fmt::format("no load object is called {} yet; `object_list` lists them.", object));
  }
  return answer;
}

template <Expansion Chosen>
Result<Answer> run_object(Host& host, const Invocation& call) {
  if (call.arguments.empty())
    return fault("no load object is named", "`object_list` lists them; all means every one");
  return expand(host, call.arguments.front(), Chosen);
}

Result<Answer> run_object_select(Host& host, const Invocation& call) {
  if (call.arguments.empty())
    return fault("no load object is named", "`object_list` lists them; all means every one");
  host.choice().expansions.choose("all", Expansion::hide);
  return expand(host, call.arguments.front(), Expansion::show);
}

Result<Answer> run_objects_default(Host& host, const Invocation&) {
  host.choice().expansions = {};
  return Answer{};
}

constexpr std::string_view kSelectHelp =
    "LIST is all, none, or numbers and ranges such as 1,3-5; EXPERIMENTS:LIST is about these "
    "experiments alone, and + stands between several such lists. An event counts if all that is "
    "selected is true of it. `filters` takes the place of every selection. Without LIST: what is "
    "selected.\n";

constexpr std::array kSelections{
    Command{"threads", "", "", "Exclusive metrics of threads.",
            "Numbers are those of the kernel and of LLDB. A name is the one that the thread had "
            "last.\n",
            kAll, Role::report, 0, run_threads},
    Command{"cpus", "", "", "Exclusive metrics of CPUs.",
            "By the CPU that an event was recorded on.\n", kAll, Role::report, 0, run_cpus},
    Command{"processes", "", "", "Exclusive metrics of processes.", "", kAll, Role::report, 0,
            run_processes},
    Command{"seconds", "", "", "Exclusive metrics of the seconds of the recording.",
            "The first is second 0. `--sort name` shows them in their order.\n", kAll, Role::report,
            0, run_seconds},
    Command{"indxobj", "", "TYPE", "Exclusive metrics of index objects of a kind.",
            "An event counts for the object that the expression of the kind gives; <Unknown> has "
            "those that the expression says nothing of. `indxobj_list` lists the kinds.\n",
            kAll, Role::report, 1, run_indxobj},
    Command{"indxobj_list", "", "", "The kinds of index objects, and their expressions.", "",
            kShown, Role::report, 0, run_indxobj_list},
    Command{"thread_list", "", "", "How many threads there are, and which are selected.", "",
            kShown | kSpan, Role::report, 0, run_selection_list<reader::kThreadSelection>},
    Command{"lwp_list", "", "", "The same as `thread_list`.", "", kShown | kSpan, Role::report, 0,
            run_selection_list<reader::kThreadSelection>},
    Command{"cpu_list", "", "", "How many CPUs there are, and which are selected.", "",
            kShown | kSpan, Role::report, 0, run_selection_list<reader::kCpuSelection>},
    Command{"sample_list", "", "", "How many samples there are, and which are selected.", "",
            kShown | kSpan, Role::report, 0, run_selection_list<reader::kSampleSelection>},
    Command{"experiment_list", "exp_list", "", "The experiments that reports are about.", "",
            kShown, Role::report, 0, run_plain_report<reader::experiment_list>},
    Command{"objects", "segments pmap", "", "Exclusive and inclusive metrics of load objects.",
            "Sel: show, api or hide, see `object_show`. Symbols: whether functions have names: "
            "all, exported ones, or none.\n",
            kAll, Role::report, 0, run_list<reader::objects_report>},
    Command{"object_list", "segment_list", "", "The load objects, and how much of them is shown.",
            "", kShown, Role::report, 0, run_object_list},
    Command{"describe", "", "", "The properties of events that filters can name.",
            "Of the kinds of events that the experiment can have.\n", kShown, Role::report, 0,
            run_plain_report<reader::describe_report>},
    Command{"filters", "", "[EXPRESSION|off]", "Choose the events that reports are about.",
            "An event counts if the expression is not 0. It is made of the properties that "
            "`describe` lists, of numbers (times may end in ns, us, ms or s), of C's operators and "
            "parentheses, and of\n"
            "LIST IN LIST: every element of the left one is in the right one; SOME IN: at least "
            "one; ORDERED IN: they stand there as they are, nothing between. (1, 2, 3) is a list, "
            "and STACK is the list of the functions on the call stack, for ORDERED IN from the "
            "outermost on.\n"
            "FNAME(\"NAME\"): the functions of that name, as `csingle` takes it or as a regular "
            "expression for all of the name; TNAME(\"NAME\"): the threads of that name; "
            "HASPROP(PROPERTY): whether the event has it. An event that lacks a property which "
            "the value depends on does not count.\n"
            "Examples: THRID == 1234; FNAME(\"parse\") SOME IN STACK; TSTAMP >= 2s && TSTAMP < "
            "3s; LEAF IN FNAME(\"mem.*\"); (FNAME(\"main\"), FNAME(\"work\")) ORDERED IN "
            "STACK.\n"
            "off: all events count. Without EXPRESSION: what is chosen.\n",
            kNoOptions, Role::view, kAnyNumber, run_filters},
    Command{"thread_select", "", "[LIST]", "Choose the threads that reports are about.",
            kSelectHelp, kNoOptions, Role::view, 1, run_select<reader::kThreadSelection>},
    Command{"lwp_select", "", "[LIST]", "The same as `thread_select`.", kSelectHelp, kNoOptions,
            Role::view, 1, run_select<reader::kThreadSelection>},
    Command{"cpu_select", "", "[LIST]", "Choose the CPUs that reports are about.", kSelectHelp,
            kNoOptions, Role::view, 1, run_select<reader::kCpuSelection>},
    Command{"sample_select", "", "[LIST]", "Choose the samples that reports are about.",
            "An event belongs to the first sample that was taken after it. LIST as in "
            "`thread_select`.\n",
            kNoOptions, Role::view, 1, run_select<reader::kSampleSelection>},
    Command{"indxobj_define", "", "NAME EXPRESSION", "Define a kind of index objects.",
            "EXPRESSION as in `filters`; events with one value of it are one object. For example "
            "`indxobj_define Tenths TSTAMP/100ms`.\n",
            kNoOptions, Role::view, kAnyNumber, run_indxobj_define},
    Command{"object_show", "", "LIST", "Show all functions of load objects.",
            "LIST is OBJECT[,OBJECT...] or all. An OBJECT is a path, or the last part of one, as "
            "`object_list` shows it. That is how every one is shown at first.\n",
            kNoOptions, Role::view, 1, run_object<Expansion::show>},
    Command{"object_hide", "", "LIST", "Show load objects as one function each.",
            "What is called within the object counts for that function, <libc.so.6> for example. "
            "LIST as in `object_show`.\n",
            kNoOptions, Role::view, 1, run_object<Expansion::hide>},
    Command{"object_api", "", "LIST", "Show of load objects the functions that others call.",
            "What those call within the object counts for them. LIST as in `object_show`.\n",
            kNoOptions, Role::view, 1, run_object<Expansion::api>},
    Command{"object_select", "segment_select", "LIST",
            "Show all functions of these load objects, and hide others.",
            "As `object_hide all` and `object_show LIST`.\n", kNoOptions, Role::view, 1,
            run_object_select},
    Command{"objects_default", "", "", "Show all functions of all load objects again.", "",
            kNoOptions, Role::view, 0, run_objects_default},
};

}  // namespace

std::span<const Command> selection_commands() { return kSelections; }

}  // namespace gnomon::commands
