// Commands that control recording and choose its settings. A debugger's command thread.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "commands/base/command.h"
#include "commands/collect/attach_command.h"
#include "commands/collect/setting_words.h"
#include "commands/collect/settings_list.h"

namespace gnomon::commands {
namespace {

using format::Setting;
using Words = std::span<const std::string>;

Result<Answer> sentence_of(Result<std::string> said) {
  if (!said) return tl::unexpected(said.error());
  return Answer{*said, {}};
}

std::string first_of(const Invocation& call) {
  return call.arguments.empty() ? "" : call.arguments.front();
}

// A word that a command does not know, or that is missing.
tl::unexpected<Fault> wrong_word(std::string_view command, std::string_view word,
                                 std::span<const std::string_view> known) {
  const std::string list = fmt::format("{} are known", fmt::join(known, ", "));
  if (word.empty()) return fault(fmt::format("{} needs a word", command), list);
  return fault(fmt::format("{} does not know {}", command, word), suggestion(word, known, list));
}

Result<Answer> run_enable(Host& host, const Invocation&) { return sentence_of(host.enable()); }
Result<Answer> run_disable(Host& host, const Invocation&) { return sentence_of(host.disable()); }
Result<Answer> run_pause(Host& host, const Invocation&) { return sentence_of(host.pause()); }
Result<Answer> run_resume(Host& host, const Invocation&) { return sentence_of(host.resume()); }

// Changes the settings by `change`, which returns a warning or "". Answers the setting's new value.
template <typename Change>
Result<Answer> change_settings(Host& host, std::string_view name, Change change) {
  auto settings = host.settings();
  if (!settings) return tl::unexpected(settings.error());
  Result<std::string> warning = change(*settings);
  if (!warning) return tl::unexpected(warning.error());
  if (auto set = host.set_settings(*settings); !set) return tl::unexpected(set.error());
  const auto table = settings_table(*settings, Speaks::commands);
  Answer answer;
  for (const reader::Row& row : table->rows)
    if (std::get<std::string>(row[0]) == name)
      answer.text = fmt::format("{}: {}\n", name, std::get<std::string>(row[1]));
  if (!warning->empty()) answer.warnings.push_back(*warning + ".");
  return answer;
}

// The word of a setting's command, and what the command takes behind it.
constexpr std::string_view command_of(Setting setting) {
  const std::string_view command = format::row(setting).command;
  return command.substr(0, command.find(' '));
}
constexpr std::string_view operands_of(Setting setting) {
  const std::string_view command = format::row(setting).command;
  return command.substr(command.find(' ') + 1);
}
constexpr std::string_view help_of(Setting setting) { return format::row(setting).sentence; }

Result<Answer> set_to(Host& host, Setting setting, const std::string& word) {
  return change_settings(host, format::row(setting).name, [&](CollectSettings& settings) {
    return set_value(setting, word, settings.values);
  });
}

// on|off|timer TIME|source auto|kernel|signal|waits on|off
Result<Answer> run_profile(Host& host, const Invocation& call) {
  constexpr std::string_view kKnown[] = {"on", "off", "timer", "source", "waits"};
  const Words words = call.arguments;
  const std::string verb = first_of(call);
  if (verb == "timer") {
    if (words.size() < 2 || words[1] == "off")
      return fault("profile timer needs an interval",
                   "on, hi, lo, 5m and 500u are known; `collector profile off` is without a clock");
    return change_settings(host, "profile", [&](CollectSettings& settings) {
      settings.has_chosen_clock = true;
      return set_value(Setting::profile, words[1], settings.values);
    });
  }
  if (verb == "source") {
    if (words.size() < 2)
      return fault("profile source needs a word", "auto, kernel, hybrid and signal are known");
    return set_to(host, Setting::source, words[1]);
  }
  if (verb == "waits") {
    if (words.size() < 2) return fault("profile waits needs a word", "on and off are known");
    return set_to(host, Setting::waits, words[1]);
  }
  if (verb != "on" && verb != "off") return wrong_word("profile", verb, kKnown);
  if (words.size() > 1)
    return fault(fmt::format("profile {} takes no further word (got {})", verb, words[1]),
                 "`collector profile timer TIME` chooses the interval");
  return change_settings(host, "profile", [&](CollectSettings& settings) -> Result<std::string> {
    settings.has_chosen_clock = true;
    // An interval that was chosen stays.
    if (verb == "on" && settings.values[Setting::profile] != 0) return "";
    return set_value(Setting::profile, verb, settings.values);
  });
}

// record [NAME] | period SECONDS | periodic | manual
Result<Answer> run_sample(Host& host, const Invocation& call) {
  constexpr std::string_view kKnown[] = {"record", "period", "periodic", "manual"};
  const Words words = call.arguments;
  const std::string verb = first_of(call);
  if (verb == "record") return sentence_of(host.record_sample(words.size() > 1 ? words[1] : ""));
  if (verb == "period") {
    if (words.size() < 2) return fault("sample period needs a time", "1, 0.5s and 500ms are known");
    if (words[1] == "on" || words[1] == "off")
      return fault(fmt::format("{} is not a time", words[1]),
                   "`collector sample periodic` and `manual` turn periodic samples on and off");
    return set_to(host, Setting::sample_period, words[1]);
  }
  if (verb != "periodic" && verb != "manual") return wrong_word("sample", verb, kKnown);
  if (words.size() > 1)
    return fault(fmt::format("sample {} takes no further word (got {})", verb, words[1]),
                 "`collector sample period TIME` chooses the time between samples");
  return change_settings(
      host, "sample period", [&](CollectSettings& settings) -> Result<std::string> {
        if (verb == "periodic" && settings.values[Setting::sample_period] != 0) return "";
        return set_value(Setting::sample_period, verb == "manual" ? "off" : "on", settings.values);
      });
}

Result<Answer> run_dbxsample(Host& host, const Invocation& call) {
  constexpr std::string_view kKnown[] = {"on", "off"};
  const std::string word = first_of(call);
  if (word != "on" && word != "off") return wrong_word("dbxsample", word, kKnown);
  return change_settings(host, "sample at stops",
                         [&](CollectSettings& settings) -> Result<std::string> {
                           settings.samples_at_stops = word == "on";
                           return "";
                         });
}

// The command of a setting whose row has a summary.
template <Setting Which>
Result<Answer> run_setting(Host& host, const Invocation& call) {
  if (call.arguments.empty())
    return fault(fmt::format("{} needs {}", command_of(Which), operands_of(Which)),
                 fmt::format("`help {}` shows what that may be", command_of(Which)));
  return set_to(host, Which, call.arguments.front());
}

Result<Answer> run_heaptrace(Host& host, const Invocation& call) {
  const std::string word = first_of(call);
  constexpr std::string_view kKnown[] = {"on", "off", "on,free-stacks", "on,512k", "free-only"};
  if (word.empty()) return wrong_word("heaptrace", word, kKnown);
  if (word == "free-only") return sentence_of(host.trace_frees_only());
  return set_to(host, Setting::heaptrace, word);
}

// on|off|threshold calibrate|all|MICROSECONDS
Result<Answer> run_synctrace(Host& host, const Invocation& call) {
  constexpr std::string_view kKnown[] = {"on", "off", "threshold"};
  const Words words = call.arguments;
  const std::string verb = first_of(call);
  if (verb == "threshold") {
    if (words.size() < 2 || words[1] == "on" || words[1] == "off")
      return fault("synctrace threshold needs a time",
                   "calibrate, all and a number of microseconds are known");
    return set_to(host, Setting::synctrace, words[1]);
  }
  if (verb != "on" && verb != "off") return wrong_word("synctrace", verb, kKnown);
  if (words.size() > 1)
    return fault(fmt::format("synctrace {} takes no further word (got {})", verb, words[1]),
                 "`collector synctrace threshold TIME` chooses what is recorded");
  return change_settings(host, "synctrace", [&](CollectSettings& settings) -> Result<std::string> {
    // A threshold that was chosen stays.
    if (verb == "on" && settings.values[Setting::synctrace] != 0) return "";
    return set_value(Setting::synctrace, verb, settings.values);
  });
}

Result<std::string> count(Host& host, const std::vector<std::string>& words,
                          CollectSettings& settings) {
  const auto text = host.resolve_counters(words);
  if (!text) return tl::unexpected(text.error());
  set_counters(words, *text, settings);
  if (settings.has_chosen_clock) return "";
  return "the clock is off, as nobody has chosen it; `collector profile on` records both";
}

// on|off|list|counter DEF...|addcounter DEF...
Result<Answer> run_hwprofile(Host& host, const Invocation& call) {
  constexpr std::string_view kKnown[] = {"on", "off", "list", "counter", "addcounter"};
  const Words words = call.arguments;
  const std::string verb = first_of(call);
  if (std::find(std::begin(kKnown), std::end(kKnown), verb) == std::end(kKnown))
    return wrong_word("hwprofile", verb, kKnown);
  const bool names = verb == "counter" || verb == "addcounter";
  if (names && words.size() < 2)
    return fault(fmt::format("hwprofile {} needs a counter", verb),
                 "`collector hwprofile list` shows those that count here");
  if (!names && words.size() > 1)
    return fault(fmt::format("hwprofile {} takes no further word (got {})", verb, words[1]),
                 "`collector hwprofile counter DEF` chooses what is counted");
  if (verb == "list") return sentence_of(host.list_counters());
  return change_settings(host, "hwprofile", [&](CollectSettings& settings) -> Result<std::string> {
    if (verb == "off") set_counters({}, "", settings);
    if (verb == "off" || (verb == "on" && !settings.counters.empty())) return "";
    if (verb == "on") return count(host, {"cycles"}, settings);
    std::vector<std::string> wanted;
    if (verb == "addcounter") wanted = settings.counter_words;
    wanted.insert(wanted.end(), words.begin() + 1, words.end());
    return count(host, wanted, settings);
  });
}

// directory|experiment|filename|group NAME
Result<Answer> run_store(Host& host, const Invocation& call) {
  constexpr std::string_view kKnown[] = {"directory", "experiment", "filename", "group"};
  const std::string verb = first_of(call);
  const auto known = std::find(std::begin(kKnown), std::end(kKnown), verb);
  if (known == std::end(kKnown)) return wrong_word("store", verb, kKnown);
  if (call.arguments.size() < 2)
    return fault(fmt::format("store {} needs a name", verb), "`help store` shows its syntax");
  const std::string& name = call.arguments[1];
  const bool is_experiment = verb == "experiment" || verb == "filename";
  const std::string item = "store " + (is_experiment ? "experiment" : verb);
  return change_settings(host, item, [&](CollectSettings& settings) -> Result<std::string> {
    auto set = is_experiment         ? set_experiment(name, settings)
               : verb == "directory" ? set_directory(name, settings)
                                     : set_group(name, settings);
    if (!set) return tl::unexpected(set.error());
    return "";
  });
}

Result<Answer> run_show(Host& host, const Invocation& call) {
  const auto settings = host.settings();
  if (!settings) return tl::unexpected(settings.error());
  const auto table = settings_table(*settings, Speaks::commands, first_of(call));
  if (!table) return tl::unexpected(table.error());
  return render(host, call, *table);
}

template <const char* What>
Result<Answer> run_future(Host&, const Invocation&) {
  return fault(fmt::format("this version of Gnomon cannot {}", What),
               "`collector show` lists what can be set");
}

constexpr char kMpi[] = "trace MPI calls", kRaces[] = "detect data races",
               kArchive[] = "archive load objects";

// Texts one behind the other, each but the first behind `between`.
template <std::size_t N, std::size_t Between>
constexpr std::array<char, N> joined(std::initializer_list<std::string_view> texts,
                                     const char (&between)[Between]) {
  std::array<char, N> to{};
  std::size_t at = 0;
  for (const std::string_view text : texts) {
    if (at != 0)
      for (const char c : std::string_view(between)) to[at++] = c;
    for (const char c : text) to[at++] = c;
  }
  return to;
}
constexpr auto kProfileOperandsText =
    joined<256>({operands_of(Setting::profile), operands_of(Setting::source)}, "|");
constexpr std::string_view kProfileOperands = kProfileOperandsText.data();
constexpr auto kProfileHelpText =
    joined<1024>({help_of(Setting::profile), help_of(Setting::source)}, "\n\n");
constexpr std::string_view kProfileHelp = kProfileHelpText.data();

constexpr std::array kRecording{
    Command{
        "enable", "", "", "Record the process that runs, and the program's next runs.",
        "A process that is stopped, attached to or launched, is recorded from here on. Every later "
        "`run` or `process launch` of the selected target is recorded from its beginning. Each "
        "writes an experiment, test.N.er with the first free N, in the current directory; `store` "
        "chooses others.\n\n"
        "After `detach`, and without the debugger, the recording goes on until the process ends. "
        "A later debugger's reports and `collector disable` are about it, as soon as it has "
        "attached to the process; `gnomon collect -P PID -e` ends it, too.\n",
        kNoOptions, Role::control, 0, run_enable},
    Command{
        "disable", "", "", "Stop recording.",
        "The experiment of the process that runs ends here. A stopped process gets back what the "
        "collector had of it: signal actions and masks, timers, the calls that went through it; "
        "the library stays, unused. `collector enable` begins another experiment. Later runs "
        "are not recorded.\n",
        kNoOptions, Role::control, 0, run_disable},
    Command{"pause", "", "", "Record no events until `resume`.",
            "A sample is taken, and the experiment stays open. Samples go on. Nothing is said if "
            "the recording is paused already. Before `run`, it has every run begin so.\n",
            kNoOptions, Role::control, 0, run_pause},
    Command{"resume", "", "", "Record events again after `pause`.",
            "A sample is taken. Nothing is said if the recording is not paused.\n", kNoOptions,
            Role::control, 0, run_resume},
    Command{"attach", "", "PID|NAME", "Record a process that runs, then attach LLDB to it.",
            "As `process attach` and `collector enable`, but the collector comes first. Meanwhile "
            "one thread at a time stands still, for a millisecond or two; the others run. NAME "
            "names the program's file or the process; exactly one process must match.\n",
            bit_of(OptionId::wait_for), Role::control, 1, run_attach},
    Command{"profile", "", kProfileOperands, "Choose the clock and its interval.", kProfileHelp,
            kNoOptions, Role::control, 2, run_profile},
    Command{
        "sample", "", "record [NAME]|period TIME|periodic|manual",
        "Take a sample of the process's use of the system, or choose how often.",
        "record: now. The sample stands in `samples`, NAME as its label. Reports take it as the "
        "beginning or the end of a span: `--since sample NAME`, `--between NAME NAME`.\n\n"
        "period, periodic, manual: the time between samples that are taken without asking; a "
        "second at first, and with `manual` there are none.\n",
        kNoOptions, Role::control, 2, run_sample},
    Command{"dbxsample", "", "on|off", "Take a sample at each stop in the debugger, or not.",
            "It is on at first. Stops are noted in any case: see --since stop.\n", kNoOptions,
            Role::control, 1, run_dbxsample},
};

constexpr std::array kChoices{
    Command{
        "store", "", "directory DIRECTORY|experiment NAME.er|filename NAME.er|group NAME.erg",
        "Choose where experiments go.",
        "directory: it exists already. experiment, or filename: of NAME.7.er the first free number "
        "from 7 on; NAME.er is written once, and later runs write NAME.1.er and so on. group: a "
        "file that lists experiments, to which each is added; their usual name becomes that of the "
        "group.\n",
        kNoOptions, Role::control, 2, run_store},
    Command{"show", "", "[ITEM]", "The settings of later recordings.",
            "ITEM is the first word of a setting's name; without it, or with `all`, they are all "
            "shown.\n\nThey can be changed while nothing is recorded, and stay for the session.\n",
            kShown, Role::control, 1, run_show},
    Command{"heaptrace", "", operands_of(Setting::heaptrace), "Trace allocations.",
            help_of(Setting::heaptrace), kNoOptions, Role::control, 1, run_heaptrace},
    Command{"synctrace", "", operands_of(Setting::synctrace), "Trace waits for other threads.",
            help_of(Setting::synctrace), kNoOptions, Role::control, 2, run_synctrace},
    Command{"hwprofile", "", "on|off|list|counter DEF...|addcounter DEF...",
            "Count events of the processor and the kernel.",
            "list: the counters of this machine. counter: count those from the next recording on; "
            "addcounter: those, too. on: count cycles. DEF is NAME or NAME,INTERVAL, several with "
            "commas between; a sample with the call stack is taken each INTERVAL events, a number, "
            "or `hi` or `lo`, ten times more or fewer samples. NAME is one of the list, any that "
            "libpfm4 knows, or a preset of PAPI's; before it, + asks for the address of the data; "
            "behind it, ~user=0 and ~system=0 leave out a part. Each is tried at once; what cannot "
            "be counted at the same time is refused.\n\n"
            "Each counter is a metric of its name. What was counted since the last sample stands "
            "under collector_final_counters, and what the kernel took no sample of under "
            "collector_hwcs_frozen. Unless `profile` was given, the clock is off meanwhile.\n",
            kNoOptions, Role::control, kAnyNumber, run_hwprofile},
    Command{"mpitrace", "", "", "Trace MPI calls.", "", kNoOptions, Role::future, kAnyNumber,
            run_future<kMpi>},
    Command{"tha", "", "", "Detect data races.", "", kNoOptions, Role::future, kAnyNumber,
            run_future<kRaces>},
    Command{"archive", "", "", "Archive load objects.", "", kNoOptions, Role::future, kAnyNumber,
            run_future<kArchive>},
};

template <Setting Which>
void add_setting(std::vector<Command>& rows) {
  if (const std::string_view summary = format::row(Which).summary; !summary.empty())
    rows.push_back(Command{command_of(Which), "", operands_of(Which), summary, help_of(Which),
                           kNoOptions, Role::control, 1, run_setting<Which>});
}
template <std::size_t... Places>
void add_settings(std::vector<Command>& rows, std::index_sequence<Places...>) {
  (add_setting<static_cast<Setting>(Places)>(rows), ...);
}

}  // namespace

std::span<const Command> control_commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> rows(kRecording.begin(), kRecording.end());
    add_settings(rows, std::make_index_sequence<format::kSettingCount>());
    rows.insert(rows.end(), kChoices.begin(), kChoices.end());
    return rows;
  }();
  return all;
}

}  // namespace gnomon::commands
