// Runs a program under a seccomp filter. Arguments: what is done to the system calls, "kill",
// "errno" or "allow", which kills all others; their numbers, as 222,0; the program and its
// arguments.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::uint32_t action_of(const std::string& name) {
  if (name == "kill") return SECCOMP_RET_KILL_PROCESS;
  return name == "errno" ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (char* at = argv[2]; *at; at += *at == ',') {
    const auto number = static_cast<unsigned>(std::strtoul(at, &at, 10));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, action_of(argv[1])));
  }
  const bool kills_others = std::strcmp(argv[1], "allow") == 0;
  code.push_back(
      BPF_STMT(BPF_RET | BPF_K, kills_others ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return 77;
  execv(argv[3], argv + 3);
  std::perror(argv[3]);
  return 2;
}
