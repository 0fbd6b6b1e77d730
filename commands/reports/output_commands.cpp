// Commands that choose how and where reports are written. Any thread.
#include <fmt/format.h>

#include <array>

#include "commands/base/command.h"

namespace gnomon::commands {
namespace {

using reader::NameForm;

// A word, or one character that stands between the cells.
Result<Answer> run_printmode(Host& host, const Invocation& call) {
  Host::Choice& choice = host.choice();
  if (!call.arguments.empty()) {
    const std::string& word = call.arguments.front();
    if (word.size() == 1) {
      choice.format = Format::csv;
      choice.delimiter = word.front();
    } else if (const auto format = format_named(word)) {
      choice.format = *format;
      choice.delimiter = ',';
    } else {
      return fault("printmode " + word + " is unknown",
                   "text, html, json, csv and a character to stand between cells are known");
    }
    return Answer{};
  }
  return Answer{choice.format == Format::csv && choice.delimiter != ','
                    ? fmt::format("Reports have {} between their cells.\n", choice.delimiter)
                    : fmt::format("Reports are printed as {}.\n", name_of(choice.format)),
                {}};
}

Result<Answer> run_name(Host& host, const Invocation& call) {
  reader::ProfileStyle& style = host.choice().view.style;
  if (!call.arguments.empty()) {
    const std::string& word = call.arguments.front();
    const auto colon = word.find(':');
    const std::string form = word.substr(0, colon);
    const std::string object = colon == std::string::npos ? "" : word.substr(colon + 1);
    const bool is_form = form == "long" || form == "short" || form == "mangled";
    if (!is_form || (!object.empty() && object != "soname" && object != "nosoname"))
      return fault("name " + word + " is unknown",
                   "long, short and mangled are known, and :soname or :nosoname behind them");
    style.names = form == "long"    ? NameForm::with_parameters
                  : form == "short" ? NameForm::without_parameters
                                    : NameForm::mangled;
    style.has_object_names = object == "soname";
    return Answer{};
  }
  return Answer{fmt::format("Names are {}{}.\n",
                            style.names == NameForm::with_parameters      ? "long"
                            : style.names == NameForm::without_parameters ? "short"
                                                                          : "mangled",
                            style.has_object_names ? ", with the load object behind them" : ""),
                {}};
}

Result<Answer> run_viewmode(Host& host, const Invocation& call) {
  reader::ProfileStyle& style = host.choice().view.style;
  if (!call.arguments.empty()) {
    const std::string& word = call.arguments.front();
    if (word != "user" && word != "expert" && word != "machine")
      return fault("viewmode " + word + " is unknown", "user, expert and machine are known");
    style.is_machine = word == "machine";
    return Answer{};
  }
  return Answer{style.is_machine ? "Call stacks are shown as the machine had them.\n"
                                 : "Call stacks are shown as the source has them.\n",
                {}};
}

template <bool Appends>
Result<Answer> run_outfile(Host& host, const Invocation& call) {
  if (call.arguments.empty()) return fault("no file is named", "- is the standard output");
  if (auto done = host.redirect(call.arguments.front(), Appends); !done)
    return tl::unexpected(done.error());
  return Answer{};
}

Result<Answer> run_script(Host& host, const Invocation& call) {
  if (call.arguments.empty()) return fault("no file is named", "`script FILE` runs its lines");
  if (auto done = host.run_script(call.arguments.front()); !done)
    return tl::unexpected(done.error());
  return Answer{};
}

template <Result<void> (Host::*Change)(const std::string&)>
Result<Answer> run_change(Host& host, const Invocation& call) {
  if (call.arguments.empty()) return fault("no experiment is named", "for example test.1.er");
  if (auto done = (host.*Change)(call.arguments.front()); !done)
    return tl::unexpected(done.error());
  return Answer{};
}

Result<Answer> run_compare(Host& host, const Invocation& call) {
  reader::Comparison& comparison = host.choice().comparison;
  if (!call.arguments.empty()) {
    const auto named = reader::comparison_named(call.arguments.front());
    if (!named)
      return fault("compare " + call.arguments.front() + " is unknown",
                   "on, off, delta and ratio are known");
    comparison = *named;
    return Answer{};
  }
  return Answer{fmt::format("Comparison is {}.\n", name_of(comparison)), {}};
}

Result<Answer> run_quit(Host& host, const Invocation&) {
  if (auto done = host.quit(); !done) return tl::unexpected(done.error());
  return Answer{};
}

constexpr std::array kOutputs{
    Command{
        "compare", "", "[on|off|delta|ratio]", "Choose how several experiments are shown.",
        "off, at first: summed. on: lists of items (functions, lines, pcs, objects, threads and "
        "the like) have the values of each experiment, or group of them, beside each other. "
        "delta: those of the first, and by how much the others differ from them; the largest "
        "difference first. ratio: likewise, how many times as large the others are. Items are "
        "the same if their names are. Other reports sum.\n",
        kNoOptions, Role::view, 1, run_compare},
    Command{"name", "", "[long|short|mangled[:soname|:nosoname]]",
            "Choose how functions are named.",
            "long, at first: with parameters. short: without them. mangled: as the file has them. "
            ":soname puts the load object behind each name.\n",
            kNoOptions, Role::view, 1, run_name},
    Command{"viewmode", "", "[user|expert|machine]", "Choose how call stacks are shown.",
            "machine: as they were, so that an outlined part of a function (f.cold) stands under "
            "the function's caller. user, at first, and expert: under the function. The two differ "
            "for Java and OpenMP alone, which this version shows as they are.\n",
            kNoOptions, Role::view, 1, run_viewmode},
    Command{"printmode", "", "[text|html|json|csv|CHARACTER]", "Choose the format of reports.",
            "As --format, for later reports. CHARACTER: rows only, with that character between the "
            "cells.\n",
            kNoOptions, Role::print_view, 1, run_printmode},
    Command{"outfile", "", "FILE", "Write later reports to a file.",
            "What was in it is gone. - is the standard output, as at first.\n", kNoOptions,
            Role::print, 1, run_outfile<false>},
    Command{"appendfile", "", "FILE", "Write later reports behind what a file has.",
            "As `outfile`.\n", kNoOptions, Role::print, 1, run_outfile<true>},
    Command{"script", "", "FILE", "Run the commands of a file, a line each.",
            "Words have blanks between them, or stand in quotes. # begins a comment. The first "
            "line that fails ends the script.\n",
            kNoOptions, Role::print, 1, run_script},
    Command{"open_exp", "", "EXPERIMENT", "Make later reports about this experiment alone.",
            "EXPERIMENT may be a group, NAME.erg.\n", kNoOptions, Role::print, 1,
            run_change<&Host::open_experiment>},
    Command{"add_exp", "", "EXPERIMENT", "Make later reports about this experiment as well.",
            "As `open_exp`. What several experiments recorded is summed, unless `compare` is on.\n",
            kNoOptions, Role::print, 1, run_change<&Host::add_experiment>},
    Command{"drop_exp", "", "EXPERIMENT", "Make later reports no longer about this experiment.", "",
            kNoOptions, Role::print, 1, run_change<&Host::drop_experiment>},
    Command{"quit", "exit", "", "End the session.", "", kNoOptions, Role::print, 0, run_quit},
};

}  // namespace

std::span<const Command> output_commands() { return kOutputs; }

}  // namespace gnomon::commands
