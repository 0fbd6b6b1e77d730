// The load objects of another process: their frame tables, and their lines in map.jsonl. In
// gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcollector/outside/map_lines.h"
#include "libcollector/outside/mapped_object.h"
#include "libcollector/outside/mappings.h"
#include "libcollector/record/recorder.h"
#include "libcollector/unwind/frame_table.h"

namespace gnomon::outside {

class ProcessObjects {
 public:
  // recorder: of the experiment of that process; must outlive this object.
  ProcessObjects(pid_t pid, collector::Recorder& recorder) : pid_(pid), recorder_(recorder) {}

  // Reads what is mapped now. To be called once the events tell of later mappings. Returns false if
  // this program may not look.
  bool read();
  // Takes notice of what the process itself has written into map.jsonl. Returns true if something
  // was unloaded.
  bool follow_lines();
  // Returns true if other code lay there before.
  bool add(const NewMapping& mapping, std::uint64_t time);

  // See collector::FindTable.
  bool find_table(std::uint64_t pc, collector::FrameTable& found);
  // Writes the line of the object that contains `pc` in that epoch unless it is there.
  void note_frame(std::uint64_t pc, std::uint32_t epoch);
  // Which code was loaded at a moment, CLOCK_MONOTONIC in ns.
  std::uint32_t epoch_at(std::uint64_t time) const { return lines_.epoch_at(time); }

 private:
  struct Object {
    std::unique_ptr<MappedObject> file;
    std::uint64_t inode;
    std::uint64_t bias;          // in the process
    collector::ByteRange where;  // in the process
    bool is_noted = false;
  };
  // Returns the object whose file is mapped there, and opens that; null if the file is none of an
  // object.
  Object* object_of(CodeMapping& mapping);
  int open(const CodeMapping& mapping);
  std::unique_ptr<MappedObject> open_file(const CodeMapping& mapping) const;
  void unload(const collector::ByteRange& where, std::uint64_t time);
  void forget(const collector::ByteRange& where);

  pid_t pid_;
  collector::Recorder& recorder_;
  CodeMappings mappings_;
  MapLines lines_;
  std::uint32_t lines_seen_ = 0;
  std::uint64_t read_at_ = 0;  // CLOCK_MONOTONIC, ns
  std::vector<Object> objects_;
};

}  // namespace gnomon::outside
