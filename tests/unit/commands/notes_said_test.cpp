// Notes above reports are said once a session, and again when they have grown.
#include "commands/reports/notes_said.h"

#include <gtest/gtest.h>

namespace gnomon::commands {
namespace {

using Notes = std::vector<std::string>;

Notes news(NotesSaid& said, Notes notes, const std::string& experiment = "test.1.er") {
  const std::size_t all = notes.size();
  EXPECT_EQ(said.take_known(notes, experiment) + notes.size(), all);
  return notes;
}

TEST(NotesSaid, OnceAnExperimentUntilTheyHaveGrown) {
  NotesSaid said;
  const std::string note = "2 of 102 call stacks (2.1 % of the time) are cut.";
  EXPECT_EQ(news(said, {note}), Notes{note});
  EXPECT_EQ(news(said, {note}), Notes{});
  EXPECT_EQ(news(said, {"3 of 140 call stacks (2.9 % of the time) are cut."}), Notes{});
  const std::string grown = "9 of 200 call stacks (4.5 % of the time) are cut.";
  EXPECT_EQ(news(said, {grown}), Notes{grown});
  EXPECT_EQ(news(said, {grown}), Notes{});
  EXPECT_EQ(news(said, {grown}, "test.2.er"), Notes{grown});
  EXPECT_EQ(news(said, {"no symbols: a.so is not there", "no symbols: b.so is not there"}).size(),
            2u);
}

TEST(NotesSaid, LittleIsLeftOut) {
  NotesSaid said;
  EXPECT_EQ(news(said, {"1 of 3000 call stacks (0.9 % of the time) is cut."}), Notes{});
  const Notes lost{"events dropped for want of memory or room to record them in: 3."};
  EXPECT_EQ(news(said, lost), lost);
}

TEST(NotesSaid, EventsShownAreToldEachTime) {
  NotesSaid said;
  const Notes choice{"only events that fit the filter thread 3: 1 of 2000."};
  EXPECT_EQ(news(said, choice), choice);
  EXPECT_EQ(news(said, choice), choice);
}

}  // namespace
}  // namespace gnomon::commands
