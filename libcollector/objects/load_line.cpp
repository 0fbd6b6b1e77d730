// Lines of map.jsonl: an object was loaded, or unloaded. Any context.
#include "libcollector/objects/load_line.h"

#include <cerrno>
#include <cstring>

#include "libcollector/core/json_line.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"

namespace gnomon::collector {
namespace {

struct Event {
  const char* name;
  std::uint64_t time;
  std::uint32_t epoch;
};

JsonLine begin_line(Recorder& recorder, const Event& event, const ByteRange& where, LineRoom room) {
  JsonLine line(recorder.control()->session, room.text, room.size);
  line.number("line", recorder.next_map_line())
      .text("event", event.name)
      .number("time", event.time)
      .number("epoch", event.epoch)
      .hex("begin", where.begin)
      .hex("end", where.end);
  return line;
}

FileError append(Recorder& recorder, JsonLine& line, LineRoom room) {
  const std::size_t length = line.finish();
  if (length == 0) return {format::Failure::open_file, ENAMETOOLONG};
  const FileError error = append_text({recorder.directory(), format::kMapFile}, room.text, length);
  if (!error) recorder.count_map_line();
  return error;
}

}  // namespace

FileError write_load_line(Recorder& recorder, const LoadLine& object, std::uint32_t epoch,
                          LineRoom room) {
  JsonLine line =
      begin_line(recorder, {"load", now(CLOCK_MONOTONIC), epoch}, {object.begin, object.end}, room);
  line.hex("bias", object.bias);
  if (is_utf8(object.path))
    line.text("path", object.path);
  else
    line.bytes("path_bytes", reinterpret_cast<const unsigned char*>(object.path),
               std::strlen(object.path));
  if (object.build_id.size != 0)
    line.bytes("build_id", object.build_id.data, object.build_id.size);
  else if (object.file.bytes != 0 || object.file.layout != 0)
    line.number("file_bytes", object.file.bytes)
        .number("modified", object.file.modified)
        .hex("layout", object.file.layout);
  return append(recorder, line, room);
}

FileError write_unload_line(Recorder& recorder, const ByteRange& where, std::uint32_t next,
                            std::uint64_t time, LineRoom room) {
  JsonLine line = begin_line(recorder, {"unload", time, next}, where, room);
  return append(recorder, line, room);
}

}  // namespace gnomon::collector
