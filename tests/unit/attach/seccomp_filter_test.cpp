// What a seccomp filter would do, held against what the kernel does by it.
#include "injector/attach/checks/seccomp_filter.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <random>

namespace gnomon::injector {
namespace {

constexpr std::uint32_t kCall = SYS_getpriority;  // has no business here
constexpr std::uint32_t kMostError = 0x7ff;

using Words = std::array<std::uint64_t, 6>;

seccomp_data data_of(int number, const Words& words) {
  seccomp_data data{number, AUDIT_ARCH_X86_64, 0, {}};
  for (std::size_t i = 0; i < words.size(); ++i) data.args[i] = words[i];
  return data;
}

class Programs {
 public:
  // Any way through it ends in an error that is computed from the call.
  SeccompFilter any() {
    SeccompFilter code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                       BPF_JUMP(BPF_JMP | BPF_JEQ, kCall, 1, 0),
                       BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW)};
    for (unsigned i = 0; i < BPF_MEMWORDS; ++i) code.push_back(BPF_STMT(BPF_ST, i));
    code.push_back(BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, word()));
    const unsigned length = 4 + below(40);
    for (unsigned i = 0; i < length; ++i) code.push_back(instruction(length - i - 1));
    for (const sock_filter& last :
         {sock_filter BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kMostError),
          sock_filter BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
          sock_filter BPF_STMT(BPF_RET | BPF_A, 0)})
      code.push_back(last);
    return code;
  }
  std::uint32_t word() { return below(4) == 0 ? below(40) : static_cast<std::uint32_t>(random_()); }
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

 private:
  // `rest`: how many may be jumped over.
  sock_filter instruction(unsigned rest) {
    constexpr std::array kComputes{BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND,
                                   BPF_OR,  BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG};
    constexpr std::array kConditions{BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    const auto code = [](int bits) { return static_cast<unsigned short>(bits); };
    const int source = below(2) == 0 ? BPF_K : BPF_X;
    switch (below(8)) {
      case 0:
        // Words of the call; those of the instruction's address differ.
        return BPF_STMT(code(BPF_LD | BPF_W | BPF_ABS),
                        below(2) == 0 ? 4 * below(2) : 16 + 4 * below(12));
      case 1:
        return BPF_STMT(code((below(2) == 0 ? BPF_LD : BPF_LDX) | BPF_W | BPF_MEM),
                        below(BPF_MEMWORDS));
      case 2:
        return BPF_STMT(code(below(2) == 0 ? BPF_ST : BPF_STX), below(BPF_MEMWORDS));
      case 3:
        return BPF_STMT(code(BPF_MISC | (below(2) == 0 ? BPF_TAX : BPF_TXA)), 0);
      case 4:
        return BPF_JUMP(code(BPF_JMP | kConditions[below(kConditions.size())] | source), word(),
                        static_cast<unsigned char>(below(rest + 1)),
                        static_cast<unsigned char>(below(rest + 1)));
      case 5:
        return BPF_STMT(code((below(2) == 0 ? BPF_LD : BPF_LDX) | BPF_W | BPF_LEN), 0);
      case 6:
        return BPF_STMT(code(BPF_JMP | BPF_JA), below(rest + 1));
      default: {
        const int operation = kComputes[below(kComputes.size())];
        const bool shifts = operation == BPF_LSH || operation == BPF_RSH;
        // The kernel refuses a constant to divide by that is 0, and to shift by that is too large.
        return BPF_STMT(code(BPF_ALU | operation | (shifts ? BPF_K : source)),
                        shifts ? below(32) : word() | 1);
      }
    }
  }

  std::mt19937 random_{20261123};
};

struct Seen {
  bool taken;  // the kernel took the filter
  long result;
};

Seen by_kernel(const SeccompFilter& filter, const Words& words) {
  auto* seen = static_cast<Seen*>(
      mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = fork();
  if (child == 0) {
    sock_fprog program{static_cast<unsigned short>(filter.size()),
                       const_cast<sock_filter*>(filter.data())};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    seen->taken = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    errno = 0;
    const long result = syscall(kCall, words[0], words[1], words[2], words[3], words[4], words[5]);
    seen->result = result == 0 ? 0 : errno;
    _exit(0);
  }
  int status = 0;
  EXPECT_TRUE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  const Seen found = *seen;
  munmap(seen, sizeof(Seen));
  return found;
}

TEST(SeccompFilter, DoesAsTheKernel) {
  Programs programs;
  int taken = 0;
  for (int i = 0; i < 300; ++i) {
    const SeccompFilter filter = programs.any();
    Words words;
    for (std::uint64_t& word : words) word = std::uint64_t{programs.word()} << 32 | programs.word();
    const Seen kernel = by_kernel(filter, words);
    if (!kernel.taken) continue;
    ++taken;
    const std::uint32_t ours = outcome(filter, data_of(kCall, words));
    EXPECT_EQ(ours & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO) << i;
    EXPECT_EQ(static_cast<long>(ours & SECCOMP_RET_DATA), kernel.result) << i;
  }
  if (taken == 0) GTEST_SKIP() << "no right to set a filter of system calls";
  EXPECT_GT(taken, 100);
}

TEST(SeccompFilter, DamagedOnesEndAndMeanTheWorst) {
  Programs programs;
  for (int i = 0; i < 20'000; ++i) {
    SeccompFilter filter(programs.below(12));
    for (sock_filter& code : filter)
      code = {static_cast<unsigned short>(programs.word()),
              static_cast<unsigned char>(programs.word()),
              static_cast<unsigned char>(programs.word()), programs.word()};
    outcome(filter, data_of(SYS_read, {}));
  }
  EXPECT_EQ(outcome(SeccompFilter{}, data_of(SYS_read, {})), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(outcome(SeccompFilter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64)}, data_of(SYS_read, {})),
            SECCOMP_RET_KILL_PROCESS);
}

TEST(SeccompFilter, TheStrictestCounts) {
  const auto filter = [](std::uint32_t value) { return SeccompFilter{BPF_STMT(BPF_RET, value)}; };
  const auto both = [&](std::uint32_t first, std::uint32_t second) {
    const std::vector<SeccompFilter> filters{filter(first), filter(second)};
    return outcome(filters, data_of(SYS_read, {}));
  };
  EXPECT_EQ(both(SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | 1), SECCOMP_RET_ERRNO | 1);
  EXPECT_EQ(both(SECCOMP_RET_ERRNO | 1, SECCOMP_RET_KILL_THREAD), SECCOMP_RET_KILL_THREAD);
  EXPECT_EQ(both(SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(both(SECCOMP_RET_ERRNO | 1, SECCOMP_RET_ERRNO | 2), SECCOMP_RET_ERRNO | 1);
}

}  // namespace
}  // namespace gnomon::injector
