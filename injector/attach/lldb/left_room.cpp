// Memory for an insertion that an earlier one has left in the process. LLDB's command thread; the
// process is stopped.
#include "injector/attach/lldb/left_room.h"

#include "injector/attach/gate/gate.h"
#include "injector/attach/remote/remote_image.h"
#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

// Returns the address of kLeftRoom; 0 if no collector that has one is in the process.
std::uint64_t place_of(pid_t pid) {
  for (const RemoteImage& collector : collectors_in(pid))
    if (const std::uint64_t at = collector.data(format::kLeftRoom); at != 0) return at;
  return 0;
}

// A program may unmap what it does not know, and map something else there.
bool is_as_left(pid_t pid, const Room& room) {
  const auto word = [&](std::size_t offset) {
    return read_value<std::uint64_t>(pid, room.gate + offset).value_or(0);
  };
  return is_mapped(pid, room.gate, kGateBytes, "rw-") &&
         is_mapped(pid, room.code, kCodeBytes, "r-x") &&
         word(offsetof(Gate, request.borrowed_begin)) == room.gate &&
         word(offsetof(Gate, request.code_begin)) == room.code;
}

}  // namespace

std::optional<Room> take_left_room(pid_t pid) {
  const std::uint64_t at = place_of(pid);
  const auto room = at != 0 ? read_value<Room>(pid, at) : std::nullopt;
  const Room none{};
  if (!room || room->gate == 0 || !write_memory(pid, at, &none, sizeof none)) return std::nullopt;
  return is_as_left(pid, *room) ? room : std::nullopt;
}

bool leave_room(pid_t pid, const Room& room) {
  const std::uint64_t at = place_of(pid);
  return at != 0 && write_memory(pid, at, &room, sizeof room);
}

}  // namespace gnomon::injector
