// Load objects: at start in normal context, later ones from the signal handler that met them.
#include "libcollector/control/module_map.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "libcollector/core/json_line.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"

namespace gnomon::collector {
namespace {

struct Known {
  std::uint64_t begin;
  std::atomic<std::uint64_t> end;  // stored last; 0: not yet
  std::uint64_t bias;
  const ElfW(Phdr) * headers;
  std::size_t header_count;
};
constexpr std::uint32_t kMaxKnown = 4096;
constinit Known known[kMaxKnown] = {};
constinit std::atomic<std::uint32_t> known_count = 0;
constinit std::uint32_t count_at_start = 0;
constinit char map_path[Recorder::kPathBytes] = {};

using FindObject = int (*)(void*, dl_find_object*);
constinit FindObject find_object = nullptr;

struct Object {
  std::uint64_t begin, end, bias;
  const char* path;
  const ElfW(Phdr) * headers;
  std::size_t header_count;
};

bool is_known(std::uint64_t pc) {
  for (std::uint32_t i = std::min(known_count.load(std::memory_order_acquire), kMaxKnown); i-- > 0;)
    if (pc >= known[i].begin && pc < known[i].end.load(std::memory_order_acquire)) return true;
  return false;
}

void remember(const Object& object) {
  const std::uint32_t i = known_count.fetch_add(1, std::memory_order_acq_rel);
  if (i >= kMaxKnown) return;  // the object is written again when it is met again: harmless
  known[i].begin = object.begin;
  known[i].bias = object.bias;
  known[i].headers = object.headers;
  known[i].header_count = object.header_count;
  known[i].end.store(object.end, std::memory_order_release);
}

// By the loader's own lock-free table. Program headers are read where the first page maps them.
bool ask_loader(std::uint64_t pc, Object& object, std::uint64_t& frame_header) {
  dl_find_object found{};
  if (find_object(reinterpret_cast<void*>(pc), &found) != 0) return false;
  object = {};
  object.begin = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
  object.end = reinterpret_cast<std::uint64_t>(found.dlfo_map_end);
  object.bias = found.dlfo_link_map->l_addr;
  object.path = found.dlfo_link_map->l_name;
  frame_header = reinterpret_cast<std::uint64_t>(found.dlfo_eh_frame);
  const auto* elf = static_cast<const ElfW(Ehdr)*>(found.dlfo_map_start);
  if (std::memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 &&
      elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr)) <= 4096) {
    object.headers = reinterpret_cast<const ElfW(Phdr)*>(object.begin + elf->e_phoff);
    object.header_count = elf->e_phnum;
  }
  return true;
}

// Without the loader's table: what was there at the start is never unloaded.
bool ask_start(std::uint64_t pc, Object& object, std::uint64_t& frame_header) {
  for (std::uint32_t i = 0; i < count_at_start; ++i) {
    const Known& at = known[i];
    if (pc < at.begin || pc >= at.end.load(std::memory_order_relaxed)) continue;
    object = {at.begin,       at.end.load(std::memory_order_relaxed), at.bias, "", at.headers,
              at.header_count};
    for (std::size_t h = 0; h < at.header_count; ++h)
      if (at.headers[h].p_type == PT_GNU_EH_FRAME) frame_header = at.bias + at.headers[h].p_vaddr;
    return true;
  }
  return false;
}

struct BuildId {
  const unsigned char* data = nullptr;
  std::size_t size = 0;
};

// Notes are read where they are mapped; sizes are checked against their segment (gABI, "Note
// Section").
BuildId build_id_of(const Object& object) {
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    if (header.p_type != PT_NOTE) continue;
    const std::uint64_t align = header.p_align == 8 ? 8 : 4;
    std::uint64_t at = object.bias + header.p_vaddr;
    const std::uint64_t end = at + header.p_memsz;
    if (at < object.begin || end > object.end) continue;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const std::uint64_t name = at + sizeof *note;
      const std::uint64_t data = name + ((note->n_namesz + align - 1) & ~(align - 1));
      if (data + note->n_descsz > end) break;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          std::memcmp(reinterpret_cast<const char*>(name), "GNU", 4) == 0)
        return {reinterpret_cast<const unsigned char*>(data), note->n_descsz};
      at = data + ((note->n_descsz + align - 1) & ~(align - 1));
    }
  }
  return {};
}

bool write_object(Recorder& recorder, const Object& object, char* text, std::size_t size) {
  const BuildId id = build_id_of(object);
  JsonLine line(text, size);
  line.text("event", "load")
      .number("time", now(CLOCK_MONOTONIC))
      .hex("begin", object.begin)
      .hex("end", object.end)
      .hex("bias", object.bias)
      .text("path", object.path);
  if (id.size != 0) line.bytes("build_id", id.data, id.size);
  const std::size_t length = line.finish();
  if (length == 0 || !append_text(map_path, text, length)) return false;
  recorder.count_map_line();
  return true;
}

struct Walk {
  Recorder* recorder;
  char* text;
  std::size_t size;
  bool written;
  char executable[Recorder::kPathBytes];
};

int on_object(dl_phdr_info* info, std::size_t, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  Object object{~0ull, 0, info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum};
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    if (header.p_type != PT_LOAD) continue;
    object.begin = std::min<std::uint64_t>(object.begin, object.bias + header.p_vaddr);
    object.end = std::max<std::uint64_t>(object.end, object.bias + header.p_vaddr + header.p_memsz);
  }
  if (object.begin >= object.end) return 0;
  if (!object.path || !*object.path) object.path = walk.executable;
  if (std::strncmp(object.path, "linux-vdso", 10) == 0) object.path = "[vdso]";
  remember(object);
  walk.written = write_object(*walk.recorder, object, walk.text, walk.size) && walk.written;
  return 0;
}

}  // namespace

bool write_load_objects(Recorder& recorder, char* scratch, std::uint64_t scratch_bytes) {
  if (!recorder.path_of(format::kMapFile, map_path)) return false;
  find_object = reinterpret_cast<FindObject>(dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35"));
  static Walk walk{};  // too large for a stack that may be small
  walk.text = scratch;
  walk.size = scratch_bytes;
  walk.recorder = &recorder;
  walk.written = true;
  const ssize_t n = readlink("/proc/self/exe", walk.executable, sizeof walk.executable - 1);
  walk.executable[n > 0 ? n : 0] = 0;
  dl_iterate_phdr(on_object, &walk);
  count_at_start = std::min(known_count.load(std::memory_order_relaxed), kMaxKnown);
  return walk.written;
}

void note_load_object(std::uint64_t pc, Recorder& recorder, Lane& lane) {
  if (!find_object || is_known(pc)) return;
  Object object{};
  std::uint64_t frame_header = 0;
  if (!ask_loader(pc, object, frame_header)) return;
  remember(object);
  if (!write_object(recorder, object, lane.text, sizeof lane.text))
    recorder.drop(format::Drop::load_objects);
}

bool find_frame_table(std::uint64_t pc, FrameTable& found) {
  Object object{};
  found = {};
  if (!(find_object ? ask_loader : ask_start)(pc, object, found.header)) return false;
  for (std::size_t i = 0; i < object.header_count; ++i) {
    const auto& header = object.headers[i];
    const std::uint64_t begin = object.bias + header.p_vaddr;
    const ByteRange segment{begin, begin + header.p_filesz};
    if (header.p_type == PT_LOAD && header.p_flags & PF_R && segment.contains(found.header) &&
        segment.begin >= object.begin && segment.end <= object.end) {
      found.segment = segment;
      return true;
    }
  }
  return false;
}

}  // namespace gnomon::collector
