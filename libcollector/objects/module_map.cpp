// Writes load objects to map.jsonl: those loaded at start in normal context, later ones from the
// signal handler that finds a frame in them.
#include "libcollector/objects/module_map.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cerrno>
#include <cstring>

#include "libcollector/core/time.h"
#include "libcollector/objects/build_id.h"
#include "libcollector/objects/executable.h"
#include "libcollector/objects/file_identity.h"
#include "libcollector/objects/file_path.h"
#include "libcollector/objects/known_objects.h"
#include "libcollector/objects/load_line.h"
#include "libcollector/objects/object_file.h"

namespace gnomon::collector {
namespace {

constinit KnownObjects known = {};
// Objects as write_load_objects met them. Those of identity 0 are never unloaded.
struct Noted {
  LoadObject object;
  std::uint64_t identity;
};
constexpr std::uint32_t kMaxNoted = 1024;
constinit Noted noted[kMaxNoted] = {};
constinit std::uint32_t noted_count = 0;

using FindObject = int (*)(void*, dl_find_object*);
constinit FindObject find_object = nullptr;

// Returns the permanent object that contains `pc`; any_object: of a libc whose loader cannot be
// asked, any one.
const LoadObject* noted_at(std::uint64_t pc, bool any_object) {
  for (std::uint32_t i = 0; i < noted_count; ++i) {
    const auto& [object, identity] = noted[i];
    if (pc >= object.begin && pc < object.end && (any_object || identity == 0)) return &object;
  }
  return nullptr;
}

// Stores where the loader's own lock-free table says that an object lies. The program's own may lie
// there in pieces, but is noted as a whole. Program headers are read where the object's first page
// maps them, and else from its file.
bool ask_loader(std::uint64_t pc, HeaderRoom& room, LoadObject& object) {
  dl_find_object found{};
  if (find_object(reinterpret_cast<void*>(pc), &found) != 0) return false;
  if (const LoadObject* permanent = noted_at(pc, false);
      permanent && permanent->bias == found.dlfo_link_map->l_addr) {
    object = *permanent;
    return true;
  }
  object = {};
  object.begin = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
  object.end = reinterpret_cast<std::uint64_t>(found.dlfo_map_end);
  object.bias = found.dlfo_link_map->l_addr;
  object.path = found.dlfo_link_map->l_name;
  const auto* elf = static_cast<const ElfW(Ehdr)*>(found.dlfo_map_start);
  if (std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return true;
  if (elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr)) <= 4096) {
    object.headers = reinterpret_cast<const ElfW(Phdr)*>(object.begin + elf->e_phoff);
    object.header_count = elf->e_phnum;
  } else {
    object.header_count = read_program_headers(object.path, *elf, room);
    object.headers = room.headers;
  }
  return true;
}

bool find_load_object(std::uint64_t pc, HeaderRoom& room, LoadObject& object) {
  if (find_object) return ask_loader(pc, room, object);
  const LoadObject* there = noted_at(pc, true);
  if (there) object = *there;
  return there != nullptr;
}

// FNV-1a (64 bits) of path and build-id; never 0.
std::uint64_t identity_of(const LoadObject& object) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3ull; };
  for (const char* c = object.path; *c; ++c) add(static_cast<unsigned char>(*c));
  const BuildId id = build_id_of(object);
  for (std::size_t i = 0; i < id.size; ++i) add(id.data[i]);
  return hash | 1;
}

bool is_same(const KnownObjects::Found& found, const LoadObject& object) {
  return found.identity == 0 || (found.begin == object.begin && found.end == object.end &&
                                 found.identity == identity_of(object));
}

// room: for a path.
FileError write_object(Recorder& recorder, const LoadObject& object, char* room, char* text,
                       std::size_t size) {
  const char* path = file_path(object, room);
  LoadLine line{object.begin, object.end, object.bias, path, build_id_of(object), {}};
  if (line.build_id.size == 0 && std::strcmp(path, "[vdso]") != 0)
    line.file = identity_of_file(object, path);
  return write_load_line(recorder, line, recorder.epoch(), {text, size});
}

// Writes the unload line, then begins the next epoch, in whose stacks the object's addresses may
// mean other code. Returns true to exactly one of the callers that unload the same object.
bool unload(Recorder& recorder, const KnownObjects::Found& object) {
  if (!known.forget(object)) return false;
  for (std::uint32_t epoch = recorder.epoch();; epoch = recorder.epoch()) {
    char text[256];
    if (write_unload_line(recorder, {object.begin, object.end}, epoch + 1, now(CLOCK_MONOTONIC),
                          {text, sizeof text}))
      recorder.drop(format::Drop::load_objects);
    if (recorder.begin_epoch(epoch + 1)) return true;
  }
}

struct Walk {
  Recorder* recorder;
  char* text;
  std::size_t size;
  FileError error;  // the first one
  bool permanent;
  char executable[kPathBytes];
  char path[kPathBytes];
};

// Not /proc/self/exe, which is the loader's where that was executed itself, as in `ld.so PROGRAM`.
const char* program_path(const LoadObject& object, char* room) {
  if (!path_of_mapping(object.begin, room)) executable_path(room, kPathBytes);
  return room;
}

int on_object(dl_phdr_info* info, std::size_t, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  LoadObject object = load_object_of(*info);
  if (object.begin >= object.end) return 0;
  if (!object.path || !*object.path) object.path = program_path(object, walk.executable);
  const bool vdso = std::strncmp(object.path, "linux-vdso", 10) == 0;
  if (vdso) object.path = "[vdso]";
  const bool permanent = walk.permanent || vdso || object.path == walk.executable;
  const std::uint64_t identity = permanent ? 0 : identity_of(object);
  known.remember(object, identity);
  if (frame_header_of(object) == 0)
    object.frames = find_frame_section(file_path(object, walk.path), object);
  if (noted_count < kMaxNoted) noted[noted_count++] = {object, identity};
  const FileError error = write_object(*walk.recorder, object, walk.path, walk.text, walk.size);
  if (!walk.error) walk.error = error;
  return 0;
}

// Returns the .eh_frame that was found when the object was noted.
ByteRange frames_of(const LoadObject& object) {
  if (object.frames.end != 0) return object.frames;
  for (std::uint32_t i = 0; i < noted_count; ++i)
    if (const auto& [other, identity] = noted[i];
        other.begin == object.begin && other.frames.end != 0 && identity == identity_of(object))
      return other.frames;
  return {};
}

// Compares the known objects with those loaded now.
class Seen {
 public:
  void add(const KnownObjects::Found& found, bool same) {
    (same ? same_ : other_)[found.slot / 64] |= 1ull << found.slot % 64;
  }
  bool has_same(const KnownObjects::Found& found) const { return has(same_, found); }
  bool has_other(const KnownObjects::Found& found) const { return has(other_, found); }

 private:
  using Slots = std::uint64_t[KnownObjects::kMax / 64];
  static bool has(const Slots& slots, const KnownObjects::Found& found) {
    return slots[found.slot / 64] >> found.slot % 64 & 1;
  }

  Slots same_ = {}, other_ = {};
};

int see_object(dl_phdr_info* info, std::size_t, void* seen) {
  const LoadObject object = load_object_of(*info);
  if (const KnownObjects::Found found = known.find(object.begin); found && object.path)
    static_cast<Seen*>(seen)->add(found, is_same(found, object));
  return 0;
}

// An object that a tick has met since the walk is missing there, but the loader knows it. Nothing
// of the object is read: another thread may just have unmapped it, and will call note_unloaded
// itself.
bool is_known_to_loader(const KnownObjects::Found& object) {
  dl_find_object found{};
  return find_object(reinterpret_cast<void*>(object.begin), &found) == 0 &&
         reinterpret_cast<std::uint64_t>(found.dlfo_map_start) == object.begin &&
         reinterpret_cast<std::uint64_t>(found.dlfo_map_end) == object.end;
}

}  // namespace

FileError write_load_objects(Recorder& recorder, Loaded loaded, char* scratch,
                             std::uint64_t scratch_bytes) {
  for (std::uint32_t i = 0; i < known.used(); ++i)  // to an earlier session
    if (const KnownObjects::Found found = known.at(i); found) known.forget(found);
  noted_count = 0;
  find_object = reinterpret_cast<FindObject>(dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35"));
  static Walk walk{};  // too large for a stack that may be small
  walk.text = scratch;
  walk.size = scratch_bytes;
  walk.recorder = &recorder;
  walk.error = {};
  walk.permanent = loaded == Loaded::at_start;
  dl_iterate_phdr(on_object, &walk);
  return walk.error;
}

bool note_load_object(std::uint64_t pc, Recorder& recorder, Writer& writer) {
  LoadObject object{};
  HeaderRoom room;
  if (!find_object || !ask_loader(pc, room, object)) return false;
  const KnownObjects::Found before = known.find(pc);
  if (before && is_same(before, object)) return false;
  const bool replaced = before && unload(recorder, before);
  known.remember(object, identity_of(object));
  if (write_object(recorder, object, writer.path, writer.text, sizeof writer.text))
    recorder.drop(format::Drop::load_objects);
  return replaced;
}

// Under the lock of dl_iterate_phdr nothing is unloaded, so that loaded objects may be read.
bool note_unloaded(Recorder& recorder) {
  if (!find_object) return false;
  Seen seen;
  dl_iterate_phdr(see_object, &seen);
  bool any = false;
  for (std::uint32_t i = 0; i < known.used(); ++i) {
    const KnownObjects::Found found = known.at(i);
    if (!found || found.identity == 0 || seen.has_same(found)) continue;
    if (!seen.has_other(found) && is_known_to_loader(found)) continue;
    any = unload(recorder, found) || any;
  }
  return any;
}

bool find_frame_table(std::uint64_t pc, FrameTable& found) {
  LoadObject object{};
  HeaderRoom room;
  found = {};
  if (!find_load_object(pc, room, object)) return false;
  if (frame_header_of(object) == 0) object.frames = frames_of(object);
  found = frame_table_of(object);
  return true;
}

}  // namespace gnomon::collector
