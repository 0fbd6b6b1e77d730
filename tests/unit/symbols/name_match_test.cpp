// What a user types for a function.
#include "reader/symbols/name_match.h"

#include <gtest/gtest.h>

using gnomon::reader::names_function;

namespace {

TEST(NameMatch, WholeNamesAndTheirEnds) {
  for (const char* word : {"sort", "util::sort", "util::sort<int>", "util::sort<int>(int)",
                           "void util::sort<int>(int)"})
    EXPECT_TRUE(names_function(word, "void util::sort<int>(int)")) << word;
  EXPECT_TRUE(names_function("main", "main"));
  EXPECT_TRUE(names_function("f", "f (liba.so)"));
  EXPECT_TRUE(names_function("get", "box<std::map<int, char> >::get(int (*)(char)) const"));
  EXPECT_TRUE(names_function("operator()", "f::operator()(int) const"));
  EXPECT_TRUE(names_function("operator<", "operator<(a const&, b const&)"));
  EXPECT_TRUE(names_function("operator->", "p::operator->()"));
}

TEST(NameMatch, PartsAndCopiesThatACompilerMakes) {
  for (const char* word : {"sort", "util::sort<int>", "util::sort<int>(int)"})
    EXPECT_TRUE(names_function(word, "void util::sort<int>(int) [clone .part.0] [clone .cold]"))
        << word;
  for (const char* known : {"step.0", "step.0._omp_fn.0", "step.isra.0 (liba.so)", "step"})
    EXPECT_TRUE(names_function("step", known)) << known;
  EXPECT_TRUE(names_function("step.0", "step.0 (liba.so)"));
  for (const char* known : {".step", "a.step", "step@plt", "stepper.0", "step.0::f", "f(step.0)"})
    EXPECT_FALSE(names_function("step", known)) << known;
}

TEST(NameMatch, NothingElse) {
  for (const char* word : {"", "ort", "int", "(int)", "util", "util::", "::sort(", ">"})
    EXPECT_FALSE(names_function(word, "void util::sort<int>(int)")) << word;
  EXPECT_FALSE(names_function("main", "__libc_start_main"));
  for (const char* odd : {"", ")", "(", ">", "()", "a)", "<>", " ("}) names_function("x", odd);
}

}  // namespace
