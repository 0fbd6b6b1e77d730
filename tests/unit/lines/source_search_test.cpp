// Where a source file is now.
#include "reader/lines/source_search.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/experiment/written.h"

using namespace gnomon;
using namespace gnomon::reader;

namespace {

TEST(SourceSearch, MapsThenTheSamePlaceThenDirectories) {
  test::Directory directory;
  const std::string& root = directory.path();
  std::filesystem::create_directories(root + "/new/lib");
  std::filesystem::create_directories(root + "/flat");
  for (const char* name : {"/new/lib/list.c", "/flat/list.c", "/same.c"})
    std::ofstream(root + name) << "x\n";
  SourceSearch search;
  search.directories.clear();
  EXPECT_EQ(search.find("/old/lib/list.c"), "");
  EXPECT_EQ(search.find(root + "/same.c"), root + "/same.c");
  search.directories = {root + "/nowhere", root + "/new"};
  EXPECT_EQ(search.find("/old/lib/list.c"), root + "/new/lib/list.c");  // by the longest end
  search.directories = {root + "/flat"};
  EXPECT_EQ(search.find("/old/lib/list.c"), root + "/flat/list.c");
  EXPECT_EQ(search.find("list.c"), root + "/flat/list.c");
  search.maps = {{"/old", root + "/new"}};
  EXPECT_EQ(search.find("/old/lib/list.c"), root + "/new/lib/list.c");
  EXPECT_EQ(search.find("/older/lib/list.c"), root + "/flat/list.c");
  EXPECT_EQ(search.find("/old/lib"), "");
}

TEST(SourceSearch, Lines) {
  test::Directory directory;
  const std::string path = directory.file("dos.c");
  std::ofstream(path, std::ios::binary) << "one\r\n\ntwo";
  const auto lines = read_lines(path);
  ASSERT_TRUE(lines);
  EXPECT_EQ(*lines, (std::vector<std::string>{"one", "", "two"}));
  EXPECT_FALSE(read_lines(directory.path()));
}

}  // namespace
