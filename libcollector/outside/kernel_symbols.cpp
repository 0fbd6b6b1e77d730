// Names of the kernel's functions, for the reader: the file kernel.jsonl. In gnomon-sampler.
#include "libcollector/outside/kernel_symbols.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

#include "libcollector/core/json_line.h"
#include "libcollector/format/names.h"
#include "libcollector/record/file_space.h"

namespace gnomon::outside {
namespace {

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

// "ffffffff81000000 T startup_64", of modules with "[name]" behind it.
void KernelSymbols::read() {
  constexpr std::size_t kPiece = 1 << 20;
  std::ifstream file("/proc/kallsyms");
  do {
    const std::size_t before = names_.size();
    names_.resize(before + kPiece);
    file.read(names_.data() + before, kPiece);
    names_.resize(before + static_cast<std::size_t>(file.gcount()));
  } while (file);
  const std::string_view text = names_;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::string_view address = take_word(line), type = take_word(line),
                           name = take_word(line), module = take_word(line);
    std::uint64_t begin = 0;
    std::from_chars(address.data(), address.data() + address.size(), begin, 16);
    if (begin == 0 || !is_code(type) || name.empty()) continue;
    const auto place = [&](std::string_view word) {
      return word.empty() ? 0 : static_cast<std::uint32_t>(word.data() - text.data());
    };
    symbols_.push_back({begin, place(name), static_cast<std::uint32_t>(name.size()), place(module),
                        static_cast<std::uint32_t>(module.size())});
  }
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
}

void KernelSymbols::begin_reading() {
  if (!is_read_ && !reading_.valid()) reading_ = std::async(std::launch::async, [this] { read(); });
}

void KernelSymbols::need() {
  if (is_read_) return;
  begin_reading();
  reading_.get();
  is_read_ = true;
}

bool KernelSymbols::has_names() {
  need();
  return !symbols_.empty();
}

std::vector<KernelSymbols::Symbol>::const_iterator KernelSymbols::behind_of(
    std::uint64_t address) const {
  return std::upper_bound(symbols_.begin(), symbols_.end(), address,
                          [](std::uint64_t at, const Symbol& symbol) { return at < symbol.begin; });
}

const KernelSymbols::Symbol* KernelSymbols::find(std::uint64_t pc) const {
  const auto behind = behind_of(pc);
  return behind == symbols_.begin() ? nullptr : &*std::prev(behind);
}

format::ThreadState KernelSymbols::wait_in(std::uint64_t pc) {
  const auto [at, is_new] = waits_.try_emplace(pc, format::ThreadState::unknown);
  if (!is_new) return at->second;
  need();
  if (const Symbol* const symbol = find(pc)) {
    const std::string_view name = std::string_view(names_).substr(symbol->name, symbol->length);
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
        .number("end", behind == symbols_.end() ? ~0ull : behind->begin)
        .text("name", names_.substr(symbol->name, symbol->length).c_str());
    if (symbol->module_length != 0)
      line.text("module", names_.substr(symbol->module, symbol->module_length).c_str());
    if (const std::size_t length = line.finish(); length != 0)
      collector::append_text({directory, format::kKernelFile}, text, length);
  }
  fresh_.clear();
}

}  // namespace gnomon::outside
