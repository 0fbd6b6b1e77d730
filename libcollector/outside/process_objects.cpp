// The load objects of another process: their frame tables, and their lines in map.jsonl. In
// gnomon-sampler.
#include "libcollector/outside/process_objects.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "libcollector/core/time.h"
#include "libcollector/objects/load_line.h"

namespace gnomon::outside {
namespace {

using collector::ByteRange;

constexpr std::string_view kRemoved = " (deleted)";  // proc_pid_maps(5)

// Returns a descriptor of the file if that is the one with this inode; else -1.
int open_same(const std::string& path, std::uint64_t inode) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info {};
  if (file < 0 || (fstat(file, &info) == 0 && info.st_ino == inode && S_ISREG(info.st_mode)))
    return file;
  close(file);
  return -1;
}

// As the process names it.
std::string path_in(const CodeMapping& mapping) {
  const std::string& path = mapping.path;
  return path.ends_with(kRemoved) ? path.substr(0, path.size() - kRemoved.size()) : path;
}

// Where the file of a mapping may be reached, the likely places first.
std::vector<std::string> places_of(const CodeMapping& mapping, pid_t pid) {
  char name[64];
  std::snprintf(name, sizeof name, "/map_files/%" PRIx64 "-%" PRIx64, mapping.begin, mapping.end);
  const std::string process = "/proc/" + std::to_string(pid);
  std::vector<std::string> places(4, process);
  places[0].append("/root").append(path_in(mapping));
  places[1] = path_in(mapping);
  places[2].append("/exe");
  places[3].append(name);
  return places;
}

std::optional<std::uint64_t> bias_of(const CodeMapping& mapping, const MappedObject& file) {
  if (mapping.moved == 0) return file.bias_of(mapping.begin, mapping.offset);
  return file.bias_around(mapping.begin - mapping.moved, mapping.offset - mapping.moved,
                          {mapping.begin, mapping.end});
}

bool overlap(const ByteRange& a, const ByteRange& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

bool ProcessObjects::read() {
  read_at_ = collector::now(CLOCK_MONOTONIC);
  follow_lines();
  return mappings_.read(pid_);
}

bool ProcessObjects::follow_lines() {
  const std::uint32_t written = collector::atomic(recorder_.control()->map_lines).load();
  if (written == lines_seen_) return false;
  lines_seen_ = written;
  bool any = false;
  lines_.follow(recorder_.directory(), [&](const ByteRange& where) {
    forget(where);
    any = true;
  });
  return any;
}

// What came before the mappings were read may be gone by then.
bool ProcessObjects::add(const NewMapping& mapping, std::uint64_t time) {
  if (time < read_at_) return false;
  const std::vector<CodeMapping> replaced = mappings_.add(mapping);
  for (const CodeMapping& old : replaced)
    if (old.object >= 0) unload(objects_[static_cast<std::size_t>(old.object)].where, time);
  return !replaced.empty();
}

// The process writes such a line itself for what it unloads by dlclose(3).
void ProcessObjects::unload(const ByteRange& where, std::uint64_t time) {
  follow_lines();
  const auto object = std::find_if(objects_.begin(), objects_.end(), [&](const Object& each) {
    return each.is_noted && overlap(each.where, where);
  });
  if (object == objects_.end()) return forget(where);
  for (std::uint32_t epoch = recorder_.epoch();; epoch = recorder_.epoch()) {
    char text[256];
    if (write_unload_line(recorder_, where, epoch + 1, time, {text, sizeof text}))
      recorder_.drop(format::Drop::load_objects);
    if (recorder_.begin_epoch(epoch + 1)) break;
  }
  follow_lines();
}

// Its mappings are to be looked at anew.
void ProcessObjects::forget(const ByteRange& where) {
  mappings_.visit([&](CodeMapping& mapping) {
    if (overlap({mapping.begin, mapping.end}, where)) mapping.object = CodeMapping::kUnknown;
  });
  for (Object& object : objects_)
    if (overlap(object.where, where)) object.is_noted = false;
}

std::unique_ptr<MappedObject> ProcessObjects::open_file(const CodeMapping& mapping) const {
  if (mapping.path == "[vdso]") return MappedObject::vdso();
  if (mapping.inode == 0) return nullptr;
  for (const std::string& place : places_of(mapping, pid_)) {
    const int file = open_same(place, mapping.inode);
    if (file < 0) continue;
    auto object = MappedObject::open(file, path_in(mapping));
    close(file);
    return object;
  }
  return nullptr;
}

int ProcessObjects::open(const CodeMapping& mapping) {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const Object& known = objects_[i];
    if (known.inode == mapping.inode && known.where.contains(mapping.begin) &&
        bias_of(mapping, *known.file) == known.bias)
      return static_cast<int>(i);
  }
  auto file = open_file(mapping);
  const auto bias = file ? bias_of(mapping, *file) : std::nullopt;
  if (!bias) return CodeMapping::kNone;
  const collector::LoadObject& here = file->here();
  const std::uint64_t shift = here.bias - *bias;
  objects_.push_back(
      {std::move(file), mapping.inode, *bias, {here.begin - shift, here.end - shift}});
  return static_cast<int>(objects_.size() - 1);
}

ProcessObjects::Object* ProcessObjects::object_of(CodeMapping& mapping) {
  if (mapping.object == CodeMapping::kUnknown) mapping.object = open(mapping);
  return mapping.object < 0 ? nullptr : &objects_[static_cast<std::size_t>(mapping.object)];
}

bool ProcessObjects::find_table(std::uint64_t pc, collector::FrameTable& found) {
  found = {};
  CodeMapping* mapping = mappings_.find(pc);
  Object* object = mapping ? object_of(*mapping) : nullptr;
  if (!object) return false;
  found = frame_table_of(object->file->here());
  found.shift = object->file->here().bias - object->bias;
  return true;
}

void ProcessObjects::note_frame(std::uint64_t pc, std::uint32_t epoch) {
  CodeMapping* mapping = mappings_.find(pc);
  Object* object = mapping ? object_of(*mapping) : nullptr;
  if (!object || object->is_noted) return;
  object->is_noted = true;
  follow_lines();
  if (lines_.has(object->where, object->bias)) return;
  const collector::LoadObject& here = object->file->here();
  collector::LoadLine line{object->where.begin, object->where.end, object->bias,
                           here.path,           build_id_of(here), {}};
  if (line.build_id.size == 0 && mapping->inode != 0)
    line.file = identity_of_file(here, places_of(*mapping, pid_).front().c_str());
  std::vector<char> text(8192);
  if (write_load_line(recorder_, line, epoch, {text.data(), text.size()}))
    recorder_.drop(format::Drop::load_objects);
}

}  // namespace gnomon::outside
