// The command table: parsing, suggestions, help.
#include "commands/base/command.h"

#include <gtest/gtest.h>

#include <new>

using namespace gnomon;
using namespace gnomon::commands;

namespace {

class NoHost : public Host {
 public:
  Result<std::string> enable() override { return std::string("on"); }
  Result<std::string> experiment() override { return fault("no experiment", "run"); }
  Result<std::string> function() override { return fault("no frame", "name a function"); }
  std::size_t default_limit() const override { return 40; }
  reader::TextStyle style() const override { return {}; }
  Interrupt interrupt() const override { return {}; }
  std::string state() override { return ""; }
};

std::string answer(const char* name, std::vector<std::string> words) {
  NoHost host;
  const auto said = execute(host, **find_command(name), words);
  return said ? said->text : "! " + sentence(said.error());
}

TEST(Commands, WrongWordsGetOneSentence) {
  EXPECT_EQ(answer("functions", {"--formt", "json"}),
            "! functions has no option --formt; did you mean --format?");
  EXPECT_EQ(answer("functions", {"--format"}),
            "! --format needs a word; text, json, csv and html are known.");
  EXPECT_EQ(answer("functions", {"--format=jsno", "x.er"}),
            "! there is no format jsno; did you mean json?");
  EXPECT_EQ(answer("enable", {"--now"}), "! enable has no option --now; omit the option.");
  EXPECT_EQ(answer("functions", {"a", "b"}), "! a is no experiment; name directories NAME.N.er.");
  EXPECT_EQ(answer("functions", {"/nowhere.er"}),
            "! there is no experiment /nowhere.er; name a directory that the collector wrote, such "
            "as test.1.er.");
  EXPECT_EQ(answer("functions", {"/"}),
            "! / is not an experiment; name a directory that the collector wrote, such as "
            "test.1.er.");
  EXPECT_EQ(answer("functions", {}), "! no experiment; run.");
}

TEST(Commands, NoMemoryIsASentence) {
  NoHost host;
  Command greedy = **find_command("functions");
  greedy.run = [](Host&, const Invocation&) -> Result<Answer> { throw std::bad_alloc(); };
  const auto said = execute(host, greedy, {});
  ASSERT_FALSE(said);
  EXPECT_EQ(sentence(said.error()),
            "there is not enough memory for functions; --limit N makes a report smaller.");
}

Invocation parsed(const char* name, std::vector<std::string> words) {
  auto call = parse(**find_command(name), words);
  EXPECT_TRUE(call);
  return call ? *call : Invocation{};
}

TEST(Commands, ArgumentsAndExperiment) {
  EXPECT_EQ(parsed("functions", {"there"}).experiments, std::vector<std::string>{"there"});
  EXPECT_EQ(parsed("functions", {"--limit", "7", "there"}).limit, 7u);
  EXPECT_EQ(parsed("csingle", {"f", "test.1.er"}).experiments,
            std::vector<std::string>{"test.1.er"});
  EXPECT_EQ(parsed("csingle", {"f", "2"}).arguments.size(), 2u);
  EXPECT_TRUE(parsed("csingle", {"f", "2"}).experiments.empty());
  EXPECT_EQ(parsed("csingle", {"f", "2", "there", "--format=json"}).experiments,
            std::vector<std::string>{"there"});
  EXPECT_EQ(answer("csingle", {"f", "2", "x", "y"}).find("! csingle takes 2 words and an exp"), 0u);
  EXPECT_EQ(answer("csingle", {"f", "two", "x.er"}),
            "! two is not the number of a function; functions are counted from 1.");
  EXPECT_EQ(answer("functions", {"--limit=all"}),
            "! all is not a number of rows; 0 shows all of them.");
  EXPECT_EQ(answer("functions", {"--limt", "3"}),
            "! functions has no option --limt; did you mean --limit?");
}

TEST(Commands, HelpNamesEveryCommand) {
  const std::string all = answer("help", {});
  for (const Command& command : command_table()) {
    EXPECT_NE(all.find(std::string(command.name)), std::string::npos);
    EXPECT_NE(answer("help", {std::string(command.name)}).find("Syntax: "), std::string::npos);
  }
}

}  // namespace
