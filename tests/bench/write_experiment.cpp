// Writes an experiment of any size with the collector's own recorder. Its call stacks lie in libc,
// or in the shared objects that are given.
//   write_experiment DIRECTORY EVENTS STACKS DEPTH [open | OBJECT...]
// open: the recording does not end, as if the program still ran.
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "libcollector/core/json_line.h"
#include "libcollector/format/names.h"
#include "libcollector/record/event_rows.h"
#include "libcollector/record/file_space.h"
#include "libcollector/record/recorder.h"

namespace {

using namespace gnomon;
using collector::JsonLine;
using collector::Recorder;

constexpr std::uint64_t kSession = 0x6e;

struct Code {
  std::uint64_t begin = 0, end = 0, bias = 0;
  std::string path;
};

int is_libc(dl_phdr_info* info, std::size_t, void* to) {
  if (!std::strstr(info->dlpi_name, "libc.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (const auto& part = info->dlpi_phdr[i]; part.p_type == PT_LOAD && part.p_flags & PF_X) {
      const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
      *static_cast<Code*>(to) = {begin, begin + part.p_memsz, info->dlpi_addr, info->dlpi_name};
    }
  return 1;
}

// The code of a shared object as if it were loaded at `base`.
std::optional<Code> code_of(const std::string& path, std::uint64_t base) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  std::vector<Elf64_Phdr> parts(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  file.read(reinterpret_cast<char*>(parts.data()),
            static_cast<std::streamsize>(parts.size() * sizeof(Elf64_Phdr)));
  if (!file) return std::nullopt;
  for (const Elf64_Phdr& part : parts)
    if (part.p_type == PT_LOAD && part.p_flags & PF_X)
      return Code{base + part.p_vaddr, base + part.p_vaddr + part.p_memsz, base, path};
  return std::nullopt;
}

bool append(const collector::ExperimentDirectory& directory, const char* name, JsonLine& line,
            const char* text) {
  const std::size_t length = line.finish();
  return length != 0 && !collector::append_text({directory, name}, text, length);
}

bool write_texts(const std::vector<Code>& objects, Recorder& recorder) {
  char text[4096];
  JsonLine header(0, text, sizeof text);
  header.open("format", '{').number("major", format::kFormatMajor);
  header.number("minor", format::kFormatMinor).close('}').hex("session", kSession).number("pid", 1);
  header.open("argv", '[').item("write_experiment").close(']');
  collector::write_events(header);
  if (!append(recorder.directory(), format::kHeaderFile, header, text)) return false;
  for (const Code& code : objects) {
    JsonLine map(kSession, text, sizeof text);
    map.number("line", recorder.next_map_line())
        .text("event", "load")
        .hex("begin", code.begin)
        .hex("end", code.end)
        .hex("bias", code.bias);
    map.text("path", code.path.c_str());
    if (!append(recorder.directory(), format::kMapFile, map, text)) return false;
    recorder.count_map_line();
  }
  return true;
}

// Stacks share their outer parts as those of a program do: each goes its own way from a random
// depth of the one before. A function has eight places that call, each always the same function,
// and its samples at sixteen.
std::vector<std::vector<std::uint64_t>> make_stacks(const std::vector<Code>& objects,
                                                    std::size_t count, std::size_t depth) {
  constexpr std::uint64_t kFunctions = 2000;
  const auto site = [&](std::uint64_t function, std::uint64_t number) {
    const Code& code = objects[function % objects.size()];
    const std::uint64_t here = kFunctions / objects.size();  // functions of each object
    return code.begin + function / objects.size() * ((code.end - code.begin) / here) + number * 4;
  };
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> way(depth);  // numbers of the call sites, outermost first
  std::vector<std::vector<std::uint64_t>> stacks;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t at = random() % depth; at < depth; ++at) way[at] = random() % 8;
    std::vector<std::uint64_t> stack(depth);
    std::uint64_t function = 0;
    for (std::size_t at = 0; at < depth; ++at) {
      const bool leaf = at + 1 == depth;
      stack[depth - 1 - at] = site(function, leaf ? random() % 16 : way[at]);
      function = (function * 8 + way[at] + 1) % kFunctions;
    }
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

bool write_events(Recorder& recorder, const std::vector<std::vector<std::uint64_t>>& stacks,
                  std::uint64_t events) {
  // So many find their call stack in the table as those of a program do; the others know its
  // number, which saves minutes.
  constexpr std::uint64_t kLookedUp = 1'000'000;
  std::vector<std::uint32_t> ids(stacks.size());
  std::mt19937_64 random(2);
  for (std::uint64_t i = 0; i < events; ++i) {
    const std::size_t number = random() % stacks.size();
    collector::Writer* writer = recorder.enter();
    if (i < kLookedUp || ids[number] == 0) {
      const auto& stack = stacks[number];
      std::copy(stack.begin(), stack.end(), writer->frames);
      ids[number] = recorder.intern(*writer, static_cast<std::uint32_t>(stack.size()), false,
                                    [](std::uint64_t, collector::Writer&) {});
    }
    format::ClockSample sample{};
    sample.head.thread = 1;
    sample.head.time = 1000 + i * 1'000'000;
    sample.weight = 1'000'000 + random() % 1000;
    sample.head.stack = ids[number];
    if (!sample.head.stack || !recorder.put(*writer, format::kClockSample, sample)) return false;
    recorder.leave(*writer);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_left_open = argc == 6 && std::strcmp(argv[5], "open") == 0;
  if (argc < 5)
    return std::fputs("write_experiment DIRECTORY EVENTS STACKS DEPTH [open | OBJECT...]\n",
                      stderr),
           2;
  const std::string directory = argv[1];
  const auto events = std::strtoull(argv[2], nullptr, 10);
  const auto stacks = std::strtoull(argv[3], nullptr, 10),
             depth = std::strtoull(argv[4], nullptr, 10);
  std::vector<Code> objects;
  for (int i = 5; i < argc && !is_left_open; ++i) {
    const auto code = code_of(argv[i], 0x7f0000000000 + static_cast<std::uint64_t>(i) * 0x10000000);
    if (!code) return std::fprintf(stderr, "%s is no shared object\n", argv[i]), 1;
    objects.push_back(*code);
  }
  if (objects.empty()) dl_iterate_phdr(is_libc, &objects.emplace_back());
  void* memory =
      mmap(nullptr, sizeof(Recorder), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || objects[0].begin == 0 || depth == 0 || depth > collector::kMaxFrames)
    return 1;
  auto& recorder = *static_cast<Recorder*>(memory);
  if (recorder.directory().open_path(directory.c_str()) != 0 || !recorder.open(kSession, 1, 1).at ||
      !recorder.open_storage(2).at || !write_texts(objects, recorder))
    return std::fprintf(stderr, "cannot write to %s\n", directory.c_str()), 1;
  recorder.begin(1000);
  const bool written = write_events(recorder, make_stacks(objects, stacks, depth), events);
  if (!is_left_open) recorder.end(1000 + events * 1'000'000, events * 1'000'500);
  return written ? 0 : 1;
}
