// The path of a load object's file as the kernel knows it. Any context: raw system calls.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/objects/load_object.h"

namespace gnomon::collector {

inline constexpr std::size_t kPathBytes = 4096;  // PATH_MAX

// Stores the absolute path of the file that is mapped at `address`, as proc_pid_maps(5) has it.
// Returns false if there is none, or /proc cannot be read. room: kPathBytes.
bool path_of_mapping(std::uint64_t address, char* room);

// Returns the path that the loader has if that is absolute; else the kernel's, in `room`, which has
// kPathBytes: a relative path means another file once the program has changed its directory.
const char* file_path(const LoadObject& object, char* room);

// Takes " (deleted)" off a path of /proc whose file was removed.
void take_off_removed(char* path, std::size_t length);

}  // namespace gnomon::collector
