// Files that are mapped and that others may cut short meanwhile. For the program gnomon, never for
// LLDB, whose signals are its own.
#pragma once

namespace gnomon::commands {

// From now on the program is not ended by SIGBUS when it touches a page behind the end of a mapped
// file: zeros take the page's place.
void survive_cut_files();

}  // namespace gnomon::commands
