// What header.json says of a run, and whether its process is still there. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libcollector/format/settings.h"
#include "reader/base/result.h"
#include "reader/base/units.h"
#include "reader/experiment/event.h"

namespace gnomon::reader {

// What header.json says.
struct Header {
  std::uint64_t session = 0;
  std::uint32_t pid = 0;
  std::string boot, pid_namespace;  // where that pid was one; empty: not known
  std::uint64_t start_ticks = 0;    // when that process began; 0: not known
  std::string collector;            // version
  std::string executable;
  std::vector<std::string> arguments;
  std::string working_directory;
  std::uint32_t parent = 0;  // pid, in that pid namespace
  std::string host, system, release, machine;
  std::uint64_t page_bytes = 0, memory_bytes = 0;
  std::uint64_t cpus = 0, cpu_mhz = 0;
  std::string cpu_model;
  format::SettingValues settings;
  std::string clock_source, clock_timer;
  std::string outside;  // why no collector was in the process, a clause; empty: one was
  Nanoseconds interval;
  std::uint64_t start_realtime = 0;  // ns since 1970
  std::string stack_walk;            // how call stacks were found
  std::vector<EventLayout> events;
};

Result<Header> read_header(const std::string& directory);

// Unknown: it ran where this process cannot look, on another host or in another pid namespace.
enum class Life { unknown, running, over };
Life life_of(const Header& header);

}  // namespace gnomon::reader
