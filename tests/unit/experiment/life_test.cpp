// Whether the process of an experiment is still there, by what the collector noted of it.
#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcollector/record/process_identity.h"
#include "reader/experiment/header.h"

using namespace gnomon;
using gnomon::reader::Life;

namespace {

// As the collector writes it in this process.
reader::Header header_of_this() {
  const collector::ProcessIdentity identity = collector::process_identity("/proc/self");
  utsname host{};
  uname(&host);
  reader::Header header;
  header.pid = static_cast<std::uint32_t>(getpid());
  header.boot = identity.boot;
  header.pid_namespace = identity.pid_namespace;
  header.start_ticks = identity.start_ticks;
  header.host = host.nodename;
  return header;
}

TEST(Life, ThisProcessRuns) { EXPECT_EQ(life_of(header_of_this()), Life::running); }

TEST(Life, AnotherProcessHasThePid) {
  reader::Header header = header_of_this();
  ++header.start_ticks;
  EXPECT_EQ(life_of(header), Life::over);
}

TEST(Life, ChildEndsAndIsReaped) {
  int ends[2], words[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(words), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[1]);
    const std::uint64_t ticks = collector::process_identity("/proc/self").start_ticks;
    const bool said = write(words[1], &ticks, sizeof ticks) == sizeof ticks;
    for (char byte; read(ends[0], &byte, 1) > 0;) continue;
    _exit(said ? 0 : 1);
  }
  reader::Header header = header_of_this();
  header.pid = static_cast<std::uint32_t>(child);
  ASSERT_EQ(read(words[0], &header.start_ticks, sizeof header.start_ticks),
            static_cast<ssize_t>(sizeof header.start_ticks));
  EXPECT_EQ(life_of(header), Life::running);
  close(ends[1]);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(life_of(header), Life::over);  // a zombie
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(life_of(header), Life::over);
  for (const int file : {ends[0], words[0], words[1]}) close(file);
}

TEST(Life, WhereThisProcessCannotLook) {
  reader::Header header = header_of_this();
  header.boot = "another";
  EXPECT_EQ(life_of(header), Life::over);  // this host has booted since
  header.host += "x";
  EXPECT_EQ(life_of(header), Life::unknown);
  header = header_of_this();
  header.pid_namespace = "pid:[1]";
  EXPECT_EQ(life_of(header), Life::unknown);
  EXPECT_EQ(life_of(reader::Header{}), Life::unknown);
}

}  // namespace
