"""Programs in a terminal of their own."""
import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time

import lldb_session

PATIENCE = 30  # s
PROMPT = r"\(lldb\) "


class Typed:
    """A program at a terminal, where Ctrl-C means SIGINT."""

    def __init__(self, words, work, **variables):
        self.master, slave = pty.openpty()
        self.text = ""
        self.process = subprocess.Popen([str(word) for word in words], cwd=work, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), env={**os.environ, "TERM": "dumb", **variables})
        os.close(slave)

    def until(self, pattern):
        """What is printed up to the pattern."""
        limit = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.text, re.S)):
            assert time.monotonic() < limit, (pattern, self.text)
            if select.select([self.master], [], [], 1)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace").replace("\r", "")
        printed, self.text = self.text[:found.end()], self.text[found.end():]
        return printed

    def keys(self, text):
        os.write(self.master, text.encode())

    def type(self, line):
        self.keys(line + "\n")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


class Terminal(Typed):
    """lldb-19 as a user has it: in a terminal, asynchronous."""

    def __init__(self, build, work, program, *arguments):
        super().__init__([lldb_session.LLDB, "--no-lldbinit", "-X", program, *arguments], work)
        self.until(PROMPT)
        self.type(f"plugin load {build}/lib/lldb-gnomon.so")
        self.until(r"\n.*" + PROMPT)

    def ask(self, line):
        """What a command prints; it must be JSON on lines of its own."""
        return re.search(r"^\{.*^\}$", self.answer(line, r"\n\{.*?\n\}"), re.S | re.M).group(0)

    def answer(self, line, pattern):
        """What a command prints, which has the pattern."""
        self.type(line)
        return self.until(pattern + r".*?\n.*" + PROMPT)
