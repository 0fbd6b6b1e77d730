// What a terminal can show. Any thread.
#pragma once
#include "reader/table/table.h"

namespace gnomon::commands {

// Width and colour if `file` is a terminal; neither if it is not. No colour with NO_COLOR in the
// environment (https://no-color.org) or on a dumb terminal.
reader::TextStyle terminal_style(int file);

}  // namespace gnomon::commands
