// Names of the kernel's functions, for the reader: the file kernel.jsonl. In gnomon-sampler.
#include "libcollector/outside/kernel_symbols.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <system_error>
#include <thread>

#include "libcollector/core/json_line.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/record/file_space.h"

namespace gnomon::outside {
namespace {

using collector::kSecond;

// The next word of a line; empty: there is none.
std::string_view take_word(std::string_view& line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

bool is_code(std::string_view type) {
  return type.size() == 1 && std::string_view("tTwW").find(type[0]) != std::string_view::npos;
}

// What waits there. Prefixes of the names of functions of Linux 4.18 to 6.18; static ones may have
// a suffix.
struct WaitFunction {
  std::string_view prefix;
  format::ThreadState state;
};
constexpr std::array kWaitFunctions{
    WaitFunction{"ptrace_stop", format::ThreadState::stopped},
    WaitFunction{"do_signal_stop", format::ThreadState::stopped},
    WaitFunction{"do_jobctl_trap", format::ThreadState::stopped},
    WaitFunction{"do_freezer_trap", format::ThreadState::stopped},
    WaitFunction{"futex_", format::ThreadState::lock},
    WaitFunction{"do_futex", format::ThreadState::lock},
    WaitFunction{"hrtimer_nanosleep", format::ThreadState::sleep},
    WaitFunction{"do_nanosleep", format::ThreadState::sleep},
    WaitFunction{"handle_mm_fault", format::ThreadState::page_fault},
    WaitFunction{"do_user_addr_fault", format::ThreadState::page_fault},
    WaitFunction{"exc_page_fault", format::ThreadState::page_fault},
};

}  // namespace

KernelSymbols::KernelSymbols() : begin_(collector::now(CLOCK_MONOTONIC)) {}

void KernelSymbols::Table::read_text() {
  constexpr std::size_t kPiece = 1 << 18;
  const int file = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? 0 : 1;
  while (size > 0 && !is_unwanted) {
    const std::size_t before = names.size();
    names.resize(before + kPiece);
    size = ::read(file, names.data() + before, kPiece);
    names.resize(before + static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  }
  if (file >= 0) close(file);
}

// "ffffffff81000000 T startup_64", of modules with "[name]" behind it.
void KernelSymbols::Table::add(std::string_view line) {
  const std::string_view address = take_word(line), type = take_word(line), name = take_word(line),
                         module = take_word(line);
  std::uint64_t begin = 0;
  std::from_chars(address.data(), address.data() + address.size(), begin, 16);
  if (begin == 0 || !is_code(type) || name.empty()) return;
  const auto place = [&](std::string_view word) {
    return word.empty() ? 0 : static_cast<std::uint32_t>(word.data() - names.data());
  };
  symbols.push_back({begin, place(name), static_cast<std::uint32_t>(name.size()), place(module),
                     static_cast<std::uint32_t>(module.size())});
}

void KernelSymbols::Table::read() {
  read_text();
  const std::string_view text = names;
  for (std::size_t at = 0; at < text.size() && !is_unwanted;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    add(text.substr(at, end - at));
    at = end + 1;
  }
  std::stable_sort(symbols.begin(), symbols.end(),
                   [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  is_read.store(true, std::memory_order_release);
}

void KernelSymbols::begin_reading() {
  const std::uint64_t now = collector::now(CLOCK_MONOTONIC);
  if (table_ || reading_ || now < begin_ + kSecond) return;
  reading_ = std::make_shared<Table>();
  reading_since_ = now;
  try {
    std::thread([table = reading_] {
      const sched_param none{};
      sched_setscheduler(0, SCHED_IDLE, &none);
      table->read();
    }).detach();
  } catch (const std::system_error&) {  // there is no room for a thread: need() reads them
  }
}

bool KernelSymbols::is_at_hand() {
  if (table_) return true;
  begin_reading();
  return reading_ && (reading_->is_read.load(std::memory_order_acquire) ||
                      collector::now(CLOCK_MONOTONIC) >= reading_since_ + kSecond);
}

// A thread that gets no CPU cannot be made faster without rights, so this one does its work.
void KernelSymbols::need() {
  if (table_) return;
  if (reading_ && reading_->is_read.load(std::memory_order_acquire)) {
    table_ = std::move(reading_);
    return;
  }
  if (reading_) reading_->is_unwanted = true;
  reading_.reset();
  table_ = std::make_shared<Table>();
  table_->read();
}

bool KernelSymbols::has_names() {
  need();
  return !table_->symbols.empty();
}

std::vector<KernelSymbols::Symbol>::const_iterator KernelSymbols::behind_of(
    std::uint64_t address) const {
  const auto& symbols = table_->symbols;
  return std::upper_bound(symbols.begin(), symbols.end(), address,
                          [](std::uint64_t at, const Symbol& symbol) { return at < symbol.begin; });
}

const KernelSymbols::Symbol* KernelSymbols::find(std::uint64_t pc) const {
  const auto behind = behind_of(pc);
  return behind == table_->symbols.begin() ? nullptr : &*std::prev(behind);
}

format::ThreadState KernelSymbols::wait_in(std::uint64_t pc) {
  const auto [at, is_new] = waits_.try_emplace(pc, format::ThreadState::unknown);
  if (!is_new) return at->second;
  need();
  if (const Symbol* const symbol = find(pc)) {
    const std::string_view name = name_of(*symbol);
    for (const WaitFunction& each : kWaitFunctions)
      if (name.starts_with(each.prefix)) at->second = each.state;
  }
  return at->second;
}

void KernelSymbols::write(const collector::ExperimentDirectory& directory, std::uint64_t session) {
  if (fresh_.empty()) return;
  need();
  for (const std::uint64_t pc : fresh_) {
    const Symbol* const symbol = find(pc);
    if (!symbol || !written_.insert(symbol->begin).second) continue;
    const auto behind = behind_of(symbol->begin);
    char text[512];
    collector::JsonLine line(session, text, sizeof text);
    line.number("begin", symbol->begin)
        .number("end", behind == table_->symbols.end() ? ~0ull : behind->begin)
        .text("name", std::string(name_of(*symbol)).c_str());
    if (symbol->module_length != 0)
      line.text("module", table_->names.substr(symbol->module, symbol->module_length).c_str());
    if (const std::size_t length = line.finish(); length != 0)
      collector::append_text({directory, format::kKernelFile}, text, length);
  }
  fresh_.clear();
}

void KernelSymbols::write_if_at_hand(const collector::ExperimentDirectory& directory,
                                     std::uint64_t session) {
  if (!fresh_.empty() && is_at_hand()) write(directory, session);
}

}  // namespace gnomon::outside
