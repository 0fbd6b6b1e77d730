// What a terminal can show. Any thread.
#include "commands/print/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace gnomon::commands {

reader::TextStyle terminal_style(int file) {
  reader::TextStyle style;
  if (!isatty(file)) return style;
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) == 0) style.width = size.ws_col;
  const char* forbidden = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  style.has_color =
      !(forbidden && *forbidden) && terminal && *terminal && std::strcmp(terminal, "dumb") != 0;
  return style;
}

}  // namespace gnomon::commands
