// Line numbers and inlined calls, wherever the debug information is.
#include "reader/lines/object_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "reader/lines/places.h"
#include "tests/unit/experiment/written.h"

using namespace gnomon;
using namespace gnomon::reader;

namespace {

std::string target(const std::string& name) { return GNOMON_TARGETS "/" + name; }

struct Read {
  std::unique_ptr<SourceFiles> files = std::make_unique<SourceFiles>();
  Result<ObjectLines> lines = fault("not read");
};

Read read(const std::string& path) {
  Read read;
  auto module = Module::open({path}, {}, {});
  if (module)
    read.lines = ObjectLines::open(std::move(*module), path, *read.files, {});
  else
    read.lines = tl::unexpected(module.error());
  return read;
}

std::string text_of(const Read& read, const SourcePlace& place) {
  if (!place.is_known()) return "?";
  const std::string& path = read.files->path(place.file);
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), place.line);
}

// What is said of every byte of a function: its line, and the calls that it is inlined by.
std::string all_of(Read& read, std::uint64_t begin, std::uint64_t size) {
  std::string text;
  for (std::uint64_t address = begin; address < begin + size; ++address) {
    const UnitLines* const unit = read.lines->unit_at(address, {});
    if (!unit) {
      text += "none\n";
      continue;
    }
    const std::uint64_t at = read.lines->in_dwarf(address);
    text += text_of(read, unit->innermost(at)) + " " + text_of(read, unit->outermost(at));
    for (std::uint32_t call = unit->call_at(at); call != InlinedCall::kNone;
         call = unit->call(call).outer)
      text += " " + unit->function(unit->call(call).callee).symbol + "@" +
              text_of(read, unit->call(call).at);
    text += "\n";
  }
  return text;
}

Symbol function_in(const std::string& path, const std::string& name) {
  const auto index = SymbolIndex::load({path}, {});
  const Symbol* const symbol = index ? index->named(name) : nullptr;
  return symbol ? *symbol : Symbol{};
}

TEST(ObjectLines, WhereverTheDebugInformationIs) {
  const Symbol own = function_in(target("inlining_plain.so"), "inlining");
  ASSERT_GT(own.end, own.begin);
  Read plain = read(target("inlining_plain.so"));
  ASSERT_TRUE(plain.lines) << plain.lines.error().what;
  const std::string expected = all_of(plain, own.begin, own.end - own.begin);
  // Three calls deep, and the outermost is made by the function itself.
  const std::string chain =
      " next@inlining.cpp:18 folded<3>@inlining.cpp:23 chosen@inlining.cpp:31\n";
  EXPECT_NE(expected.find(chain), std::string::npos) << expected;
  EXPECT_NE(expected.find("inlining.cpp:10 inlining.cpp:31 "), std::string::npos) << expected;
  for (const char* form : {"inlining_packed.so", "inlining_apart.so", "inlining_unlisted.so",
                           "inlining_packaged.so", "inlining_linked.so"}) {
    const Symbol same = function_in(target(form), "inlining");
    Read other = read(target(form));
    ASSERT_TRUE(other.lines) << form << other.lines.error().what;
    EXPECT_EQ(all_of(other, same.begin, same.end - same.begin), expected) << form;
  }
}

TEST(ObjectLines, WhereAFunctionIsDefined) {
  for (const char* form : {"inlining_plain.so", "inlining_apart.so", "inlining_unlisted.so",
                           "inlining_packaged.so", "inlining_linked.so"}) {
    Read read_lines = read(target(form));
    const auto lines_of = [&](const char* name) {
      const std::uint64_t begin = function_in(target(form), name).begin;
      const UnitLines* const unit = read_lines.lines->unit_at(begin, {});
      if (!unit) return std::string("none");
      const DefinedLines lines = unit->defined_at(read_lines.lines->in_dwarf(begin));
      return fmt::format("{}-{}", text_of(read_lines, {lines.file, lines.begin}),
                         lines.end == ~0u ? "" : std::to_string(lines.end));
    };
    EXPECT_EQ(lines_of("inlining"), "inlining.cpp:28-35") << form;
    EXPECT_EQ(lines_of("with_lambda"), "inlining.cpp:36-") << form;
  }
}

TEST(ObjectLines, WithoutThePartOutside) {
  test::Directory directory;
  const std::string alone = directory.file("alone.so");
  std::filesystem::copy_file(target("inlining_packaged.so"), alone);
  const Symbol function = function_in(alone, "inlining");
  Read read_lines = read(alone);
  ASSERT_TRUE(read_lines.lines);
  const std::string lines = all_of(read_lines, function.begin, function.end - function.begin);
  EXPECT_NE(lines.find("inlining.cpp:10 "), std::string::npos) << lines;
  EXPECT_EQ(lines.find('@'), std::string::npos) << lines;
  const std::string& why = read_lines.lines->without_inlines();
  EXPECT_TRUE(why.starts_with("cannot open ") &&
              why.ends_with("inlining.cpp.dwo: No such file or directory; keep such files, or pack "
                            "them: `llvm-dwp -e PROGRAM -o PROGRAM.dwp`."))
      << why;
}

TEST(ObjectLines, NoneAndWhy) {
  test::Directory directory;
  const std::string bare = directory.file("bare.so");
  std::filesystem::copy_file(target("inlining_linked.so"), bare);  // its debug file is not here
  EXPECT_EQ(sentence(read(bare).lines.error()),
            bare + " has no debug information; compile it with -g, or install its debug package.");
}

// Copies a file whose sections then say that zstd compressed them, as binutils 2.40 writes such.
void copy_as_zstd(const std::string& from, const std::string& to) {
  std::ifstream in(from, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + header.e_shoff + i * sizeof section, sizeof section);
    if ((section.sh_flags & SHF_COMPRESSED) == 0) continue;
    constexpr Elf64_Word kZstd = 2;
    std::memcpy(bytes.data() + section.sh_offset, &kZstd, sizeof kZstd);
  }
  std::ofstream(to, std::ios::binary) << bytes;
}

TEST(ObjectLines, Zstd) {
  test::Directory directory;
  const std::string whole = directory.file("zstd.so");
  copy_as_zstd(target("inlining_packed.so"), whole);
  const std::string linked = directory.file("linked.so");
  std::filesystem::copy_file(target("inlining_linked.so"), linked);
  copy_as_zstd(target("inlining_linked.so.debug"), directory.file("inlining_linked.so.debug"));
  for (const std::string& path : {whole, linked})
    EXPECT_EQ(read(path).lines.error().what,
              path + " has debug information that zstd compressed, which is not read");
}

}  // namespace
