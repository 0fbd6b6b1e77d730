// The options of `gnomon collect`: what each line of words means, or what is wrong with it.
#include "commands/collect/collect_options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "reader/report/base/setting_text.h"

namespace gnomon::commands {
namespace {

using format::Setting;

// Words are apart by one blank; '' is an empty word.
std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word == "''" ? "" : word);
  return words;
}

std::string fault_of(const std::string& text) {
  const auto line = read_collect_line(words_of(text));
  return line ? "none" : sentence(line.error());
}

CollectLine line_of(const std::string& text) {
  auto line = read_collect_line(words_of(text));
  EXPECT_TRUE(line) << text << ": " << (line ? "" : sentence(line.error()));
  return line.value_or(CollectLine{});
}

std::string text_of(Setting setting, const std::string& text) {
  return reader::setting_text(setting, line_of(text).settings.values);
}

struct WordsAndFault {
  const char *words, *fault;
};

TEST(CollectOptions, WrongLines) {
  constexpr WordsAndFault kRows[] = {
      {"-z a",
       "gnomon collect has no option -z; `gnomon collect` without a word lists the options."},
      {"-nz a",
       "gnomon collect has no option -z; `gnomon collect` without a word lists the options."},
      {"-? a",
       "gnomon collect has no option -?; `gnomon collect` without a word lists the options."},
      {"--profil hi --nothing a",
       "gnomon collect has no option --nothing; `gnomon collect` without a word lists the "
       "options."},
      {"--proflie hi a", "gnomon collect has no option --proflie; did you mean --profile?"},
      {"--p hi a",
       "--p is the beginning of several options; `gnomon collect` without a word lists the "
       "options."},
      {"--dry-run=yes a",
       "--dry-run takes no operand; `gnomon collect` without a word lists the options."},
      {"-p", "-p needs an operand; `gnomon collect` without a word lists the options."},
      {"-xp", "-xp needs an operand; `gnomon collect` without a word lists the options."},
      {"--output", "--output needs an operand; `gnomon collect` without a word lists the options."},
      {"-p '' a", "an empty word is not an interval; on, hi, lo, 5m and 500u are."},
      {"-p fast a", "fast is not an interval; on, hi, lo, 5m and 500u are."},
      {"-p 0 a", "0 is out of range for profile; 0.1 ms to 1000 ms are possible."},
      {"-p -5 a", "-5 is out of range for profile; 0.1 ms to 1000 ms are possible."},
      {"-p 99u a", "99u is out of range for profile; 0.1 ms to 1000 ms are possible."},
      {"-p 1001 a", "1001 is out of range for profile; 0.1 ms to 1000 ms are possible."},
      {"-p nan a", "nan is not an interval; on, hi, lo, 5m and 500u are."},
      {"-p 1e3 a", "1e3 is not an interval; on, hi, lo, 5m and 500u are."},
      {"-S 0.05 a", "0.05 is out of range for sample period; 0.1 s to 3600 s are possible."},
      {"-S often a", "often is not a time; 10, 0.5s, 500ms and 2m are."},
      {"-S -1 a", "-1 is not a time; 10, 0.5s, 500ms and 2m are."},
      {"-L 0 a", "0 is out of range for limit; 1 MB to 1000000 MB are possible."},
      {"-L 0.5 a", "0.5 is out of range for limit; 1 MB to 1000000 MB are possible."},
      {"-L big a", "big is not a size; a number of megabytes and unlimited are."},
      {"-L 10GB a", "10GB is not a size; a number of megabytes and unlimited are."},
      {"-t 0 a", "0 is out of range for duration; 0.001 s to 1000000 s are possible."},
      {"-t soon a", "soon is not a time; 10, 0.5s, 500ms and 2m are."},
      {"-t 10-5 a",
       "10-5 ends before it begins; write the earlier time first; an end of 0 is the program's."},
      {"-t 5-5 a",
       "5-5 ends before it begins; write the earlier time first; an end of 0 is the program's."},
      {"-t 5- a", "5- is not a time; 10, 2m, 5-10 and 1m-2m are."},
      {"-t 1-2-3 a", "1-2-3 is not a time; 10, 2m, 5-10 and 1m-2m are."},
      {"-o a a", "a does not end in .er; a name such as test.er does."},
      {"-o .er a", ".er does not end in .er; a name such as test.er does."},
      {"-o '' a", "an empty word does not end in .er; a name such as test.er does."},
      {"-O a.erg a", "a.erg does not end in .er; a name such as test.er does."},
      {"-g a.er a", "a.er does not end in .erg; a name such as test.erg does."},
      {"-d /no/such a", "there is no directory /no/such; make it, or choose another."},
      {"-d /dev/null a", "there is no directory /dev/null; make it, or choose another."},
      {"-P 1x", "1x is not the number of a process; `ps` lists them."},
      {"-P 0", "0 is not the number of a process; `ps` lists them."},
      {"-P -7", "-7 is not the number of a process; `ps` lists them."},
      {"-P 99999999999", "99999999999 is not the number of a process; `ps` lists them."},
      {"-P 7 a", "-P records process 7, so a cannot be started, too; omit one of them."},
      {"-x -P 7", "-x is about programs that are started; omit it, or -P."},
      {"-e", "-e needs the process whose recording is to end; -P PID names it."},
      {"-e a", "-e needs the process whose recording is to end; -P PID names it."},
      {"-P 7 -e -p hi", "-e records nothing, and goes with -P alone; omit the other options."},
      {"-y USR1 -l 10 a", "10 cannot pause the recording and take samples, too; use two signals."},
      {"-H on,many a", "many is no word of heaptrace; on, off, on,free-stacks and on,512k are."},
      {"-H 512k a", "512k is no word of heaptrace; on, off, on,free-stacks and on,512k are."},
      {"-H on,1k,2k a", "2k is no word of heaptrace; on, off, on,free-stacks and on,512k are."},
      {"-H on,1 a", "1 is out of range for heaptrace; 1k to 1024m are possible."},
      {"-s x a",
       "x is no word of synctrace; on, off, calibrate, all and a number of microseconds are."},
      {"-s -1 a", "-1 is out of range for synctrace; 0 to 1000000 microseconds are possible."},
      {"-i x a", "x is no word of iotrace; on and off are."},
      {"-F",
       "-F: this version of Gnomon cannot follow descendants; `gnomon collect` without a word "
       "lists what can be chosen."},
  };
  for (const WordsAndFault& row : kRows) EXPECT_EQ(fault_of(row.words), row.fault) << row.words;
  for (const char* option : {"-M", "-m", "-c", "-I", "-N", "-r", "-F", "-j", "-J", "-A", "-a"}) {
    const std::string text = fault_of(std::string(option) + " on a");
    EXPECT_NE(text.find("this version of Gnomon cannot "), std::string::npos) << text;
    EXPECT_EQ(fault_of(std::string(option) + " off a"), "none");
  }
  for (const char* option : {"-y", "-l"})
    for (const char* word : {"KILL", "STOP", "PROF", "0", "65", "NOTHING", "USR1,q"})
      EXPECT_NE(fault_of(fmt::format("{} {} a", option, word)), "none") << option << word;
  EXPECT_EQ(line_of("-h cycles,hi -h insts a").settings.counter_words.size(), 2u);
  EXPECT_EQ(line_of("-h on a").settings.counter_words.front(), "cycles");
  EXPECT_TRUE(line_of("-h cycles -h off a").settings.counter_words.empty());
  // Counters turn the clock off that nobody has chosen.
  EXPECT_EQ(line_of("-h cycles a").settings.values[Setting::profile], 0u);
  EXPECT_NE(line_of("-h cycles -p hi a").settings.values[Setting::profile], 0u);
  EXPECT_TRUE(line_of("-h cycles a").warnings.empty());
  std::string eleven;
  for (int i = 0; i < 11; ++i) eleven += "-C text ";
  EXPECT_EQ(fault_of(eleven + "a"),
            "-C can be given 10 times; text can be added to the experiment's file `notes` later.");
}

TEST(CollectOptions, RightLines) {
  EXPECT_EQ(text_of(Setting::profile, "-p hi a"), "0.997 ms");
  EXPECT_EQ(text_of(Setting::profile, "-phi a"), "0.997 ms");
  EXPECT_EQ(text_of(Setting::profile, "--profile hi a"), "0.997 ms");
  EXPECT_EQ(text_of(Setting::profile, "--prof=500u a"), "0.5 ms");
  EXPECT_EQ(text_of(Setting::profile, "-p hi -p lo a"), "100.003 ms");
  EXPECT_EQ(text_of(Setting::duration, "-t 5-10m a"), "300-600 s");
  EXPECT_EQ(text_of(Setting::duration, "--time 2m a"), "120 s");
  EXPECT_EQ(text_of(Setting::size_limit, "-L unlimited a"), "unlimited");
  EXPECT_EQ(text_of(Setting::sample_period, "-S off a"), "off");
  EXPECT_EQ(text_of(Setting::pause_signal, "-y sigusr1,r a"), "SIGUSR1");
  EXPECT_EQ(line_of("-y 10 a").settings.values[Setting::paused], 1u);
  EXPECT_EQ(line_of("-y 10,r a").settings.values[Setting::paused], 0u);
  EXPECT_TRUE(line_of("-nxv a").is_trial);
  EXPECT_TRUE(line_of("-nxv a").is_stopped);
  EXPECT_TRUE(line_of("-O a.er a").is_over_existing);
  EXPECT_TRUE(line_of("--version").wants_version);
  EXPECT_EQ(line_of("--pid 7 --end").process, 7);
  EXPECT_EQ(line_of("-p off a").warnings.size(), 1u);
}

// What follows the program's name is the program's.
TEST(CollectOptions, WordsOfTheProgram) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(line_of("xz -k -6 FILE").program, (Words{"xz", "-k", "-6", "FILE"}));
  EXPECT_EQ(line_of("-n xz -n -- -p").program, (Words{"xz", "-n", "--", "-p"}));
  EXPECT_EQ(line_of("-n -- -odd -p").program, (Words{"-odd", "-p"}));
  EXPECT_EQ(line_of("''").program, (Words{""}));
  EXPECT_EQ(line_of("- a").program, (Words{"-", "a"}));
  EXPECT_TRUE(line_of("-n").program.empty());
}

}  // namespace
}  // namespace gnomon::commands
