// Finds the file that a load object's symbols were moved to. Any thread, one at a time.
#pragma once
#include <elfutils/libdwfl.h>

#include <string>

#include "reader/base/interrupt.h"
#include "reader/symbols/elf/symbol_index.h"

namespace gnomon::reader {

struct DebugSearch {
  ObjectSource source;
  std::string build_id;  // of the load object; empty: it has none
  Interrupt interrupt;
};

// Looks where GDB does ("Debugging Information in Separate Files"): by build-id under
// /usr/lib/debug, and for the name in .gnu_debuglink beside the object, in .debug/ and under
// /usr/lib/debug; then by build-id among what debuginfod-find has fetched. A file counts if it has
// the same build-id or, where one of both has none, the checksum of the link. No server is asked,
// as the user has not asked for that. A callback of Dwfl_Callbacks; the module's userdata is a
// DebugSearch.
int find_debug_file(Dwfl_Module* module, void** search, const char* name, Dwarf_Addr base,
                    const char* file, const char* link, GElf_Word checksum, char** found);

}  // namespace gnomon::reader
