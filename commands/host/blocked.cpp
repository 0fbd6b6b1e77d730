// What the threads of a stopped process wait for, and for whom. LLDB's command thread.
#include "commands/host/blocked.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "reader/report/traced/stack_list.h"
#include "reader/report/traced/waits.h"

namespace gnomon::commands {
namespace {

using format::WaitKind;

struct KnownFunction {
  std::string_view begin, end;  // parts of its name
  WaitKind kind;
};
constexpr std::array kFunctions{
    KnownFunction{"pthread_mutex_", "lock", WaitKind::mutex},
    KnownFunction{"mtx_", "lock", WaitKind::mutex},
    KnownFunction{"pthread_rwlock_", "rdlock", WaitKind::read_lock},
    KnownFunction{"pthread_rwlock_", "wrlock", WaitKind::write_lock},
    KnownFunction{"pthread_spin_", "lock", WaitKind::spin_lock},
    KnownFunction{"pthread_cond_", "wait", WaitKind::condition},
    KnownFunction{"cnd_", "wait", WaitKind::condition},
    KnownFunction{"pthread_barrier_", "wait", WaitKind::barrier},
    KnownFunction{"pthread_", "join", WaitKind::join},
    KnownFunction{"thrd_", "join", WaitKind::join},
    KnownFunction{"sem_", "wait", WaitKind::semaphore},
};

struct RustFunction {
  std::string_view name, object;
};
constexpr std::array kRustFunctions{RustFunction{"::Mutex::lock_contended", "Rust mutex"},
                                    RustFunction{"::RwLock::read_contended", "Rust read lock"},
                                    RustFunction{"::RwLock::write_contended", "Rust write lock"},
                                    RustFunction{"::Condvar::wait", "Rust condition"},
                                    RustFunction{"::Parker::park", "unpark of a Rust thread"},
                                    RustFunction{"::Once::call", "end of a Rust Once"},
                                    RustFunction{"::RawMutex::lock_slow", "parking_lot mutex"},
                                    RustFunction{"::RawRwLock::lock_", "parking_lot lock"}};

class Circles {
 public:
  explicit Circles(const std::vector<Waiting>& waiting) {
    for (const Waiting& each : waiting)
      if (each.holder != 0) by_thread_.emplace(each.thread, &each);
  }

  // Each circle begins at the thread of the smallest number.
  std::vector<std::vector<const Waiting*>> all() {
    std::vector<std::vector<const Waiting*>> circles;
    for (const auto& [thread, each] : by_thread_) {
      std::vector<const Waiting*> circle = circle_from(*each);
      if (!circle.empty()) circles.push_back(std::move(circle));
    }
    std::sort(circles.begin(), circles.end(),
              [](const auto& a, const auto& b) { return a.front()->index < b.front()->index; });
    return circles;
  }

 private:
  // Returns the threads of the circle that `first` waits in. Returns none if it waits in no circle,
  // or if an earlier call has returned that circle.
  std::vector<const Waiting*> circle_from(const Waiting& first) {
    std::vector<const Waiting*> path;
    std::unordered_set<std::uint32_t> on_path;
    const Waiting* at = &first;
    while (at && !seen_.contains(at->thread) && on_path.insert(at->thread).second) {
      path.push_back(at);
      const auto next = by_thread_.find(at->holder);
      at = next == by_thread_.end() ? nullptr : next->second;
    }
    for (const Waiting* each : path) seen_.insert(each->thread);
    if (!at || !on_path.contains(at->thread)) return {};
    path.erase(path.begin(), std::find(path.begin(), path.end(), at));
    std::rotate(path.begin(),
                std::min_element(path.begin(), path.end(),
                                 [](auto* a, auto* b) { return a->index < b->index; }),
                path.end());
    return path;
  }

  std::unordered_map<std::uint32_t, const Waiting*> by_thread_;
  std::unordered_set<std::uint32_t> seen_;
};

// "#2 logger"; without a debugger "24728 logger"
std::string numbered(const Blocked& blocked, std::uint32_t index, const std::string& name) {
  return fmt::format("{}{}{}{}", blocked.is_numbered ? "#" : "", index, name.empty() ? "" : " ",
                     name);
}

std::string sentence_of(const Blocked& blocked, const std::vector<const Waiting*>& circle) {
  std::string text = "Deadlock: ";
  for (std::size_t i = 0; i < circle.size(); ++i) {
    const Waiting& each = *circle[i];
    text += fmt::format("thread {} waits for {}", numbered(blocked, each.index, ""), each.what);
    if (!each.is_end)
      text += circle.size() == 1
                  ? ", which it has itself"
                  : fmt::format(", which thread {} has", numbered(blocked, each.holder_index, ""));
    text += i + 1 == circle.size() ? "." : "; ";
  }
  return text;
}

std::string holder_of(const Blocked& blocked, const Waiting& waiting) {
  if (waiting.has_no_owner) return "it does not say";
  if (waiting.holder == 0) return "";
  if (waiting.holder_index != 0)
    return numbered(blocked, waiting.holder_index, waiting.holder_name);
  return fmt::format("thread {}, which is not among them", waiting.holder);
}

}  // namespace

bool is_of_runtime(std::string_view function, std::string_view object) {
  constexpr std::array<std::string_view, 6> kBeginnings{"libcollector", "__GI_",     "__lll_",
                                                        "___pthread",   "__pthread", "__futex"};
  if (object.starts_with("libcollector") || reader::is_of_runtime(function, object)) return true;
  return wait_kind_of(function) != 0 || rust_wait_of(function) != "" ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view each) { return function.starts_with(each); });
}

std::string_view rust_wait_of(std::string_view function) {
  if (!function.starts_with("std::") && !function.starts_with("parking_lot")) return "";
  for (const RustFunction& known : kRustFunctions)
    if (function.find(known.name) != function.npos) return known.object;
  return "";
}

std::uint32_t wait_kind_of(std::string_view function) {
  for (const KnownFunction& known : kFunctions) {
    const std::size_t at = function.find(known.begin);
    if (at == function.npos || function.find("unlock") != function.npos) continue;
    // Before it only what marks a name as the implementation's.
    if (function.substr(0, at).find_first_not_of("_GInew") != function.npos) continue;
    if (function.find(known.end, at + known.begin.size()) != function.npos)
      return static_cast<std::uint32_t>(known.kind);
  }
  return 0;
}

std::string called_name(std::string_view function) {
  constexpr std::array<std::string_view, 4> kMarks{"__GI_", "__libc_", "__new_", "_"};
  for (bool has_mark = true; has_mark;) {
    has_mark = false;
    for (const std::string_view mark : kMarks)
      if (function.starts_with(mark) && function.size() > mark.size()) {
        function.remove_prefix(mark.size());
        has_mark = true;
        break;
      }
  }
  return std::string(function);
}

std::string wait_kind_name(std::uint32_t kind) { return reader::kind_name(kind); }

std::optional<std::uint64_t> place_of_holder(std::uint32_t kind, std::uint64_t object,
                                             std::uint64_t word) {
  constexpr std::uint64_t kOwner = 8, kWriter = 24;  // __owner, __cur_writer
  switch (static_cast<WaitKind>(kind)) {
    case WaitKind::mutex:
      return object + kOwner;
    case WaitKind::read_lock:
    case WaitKind::write_lock:
      return object + kWriter;
    case WaitKind::join:
      return word;
    default:
      return std::nullopt;
  }
}

std::uint64_t base_of_lock(std::uint32_t kind, std::uint64_t word) {
  const bool is_odd = word % 8 != 0;
  switch (static_cast<WaitKind>(kind)) {
    case WaitKind::read_lock:
    case WaitKind::write_lock:
      return word - (is_odd ? 12 : 8);  // __writers_futex, __wrphase_futex
    case WaitKind::condition:
      return word - (is_odd ? 44 : 40);  // __g_signals
    case WaitKind::barrier:
      return word - 4;  // current_round
    default:
      return word;
  }
}

reader::Table blocked_table(const Blocked& blocked) {
  reader::Table table;
  table.title =
      fmt::format("{} of {} {}", blocked.waiting.size(), reader::counted(blocked.threads, "thread"),
                  blocked.waiting.size() == 1 ? "waits" : "wait");
  table.columns = {{"since", {"Since", "", "sec."}, blocked.is_numbered, reader::Type::time},
                   {"index", {"Thread"}},
                   {"thread", {}, false, reader::Type::count},
                   {"object", {"Waits for"}},
                   {"held_by", {"Held by"}},
                   {"holder", {}, false, reader::Type::count},
                   {"place", {"In"}}};
  for (const auto& circle : Circles(blocked.waiting).all())
    table.notes.push_back(sentence_of(blocked, circle));
  for (const Waiting& each : blocked.waiting) {
    reader::Row row;
    row.emplace_back(reader::Empty{});
    if (each.since) row.back() = *each.since;
    row.emplace_back(numbered(blocked, each.index, each.name));
    row.emplace_back(std::uint64_t{each.thread});
    row.emplace_back(each.what);
    row.emplace_back(holder_of(blocked, each));
    row.emplace_back(reader::Empty{});
    if (each.holder != 0) row.back() = std::uint64_t{each.holder};
    row.emplace_back(each.place);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace gnomon::commands
