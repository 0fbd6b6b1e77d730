// An experiment that stays open between reports. Any thread, one at a time.
#include "reader/analysis/analysis.h"

#include <utility>

namespace gnomon::reader {
namespace {

LiveFiles live_files_of(const Header& header) {
  if (life_of(header) != Life::running) return {};
  return LiveFiles("/proc/" + std::to_string(header.pid));
}

}  // namespace

Result<std::unique_ptr<Analysis>> Analysis::open(const std::string& directory) {
  auto recording = Recording::open(directory);
  if (!recording) return tl::unexpected(recording.error());
  return std::unique_ptr<Analysis>(new Analysis(std::move(*recording)));
}

Result<void> Analysis::add(const Event& event) {
  ++events_[event.layout.id];
  if (sums_.add(event, room_)) return {};
  return fault(experiment().directory + " is damaged: an event has a wrong call stack",
               "record again");
}

Result<void> Analysis::update(const Interrupt& interrupt) {
  const auto news = recording_.update(interrupt, [this](const Event& event) { return add(event); });
  samples_.read_new(experiment().directory);
  is_spent_ = !news;
  if (!news) return tl::unexpected(news.error());
  if (*news || experiment().objects.size() != objects_) profile_.reset();
  return {};
}

Result<const Profile*> Analysis::profile(const Interrupt& interrupt) {
  if (profile_) return &*profile_;
  objects_ = experiment().objects.size();
  space_.set_objects(experiment().objects, live_files_of(experiment().header));
  space_.set_interrupt(interrupt);
  auto built = Profile::build(sums_, recording_.stacks(), space_, interrupt);
  // Symbols that an interruption kept from being loaded are missing from then on.
  if (built && interrupt.asked()) built = interrupted();
  space_.set_interrupt({});
  is_spent_ = !built;
  if (!built) return tl::unexpected(built.error());
  profile_ = std::move(*built);
  return &*profile_;
}

std::vector<std::string> Analysis::symbol_notes() const {
  std::vector<std::string> notes;
  for (const std::string& missing : space_.faults()) notes.push_back("no symbols: " + missing);
  return notes;
}

// A recording that ends meanwhile, or a directory that was written anew, is worth a second look.
Result<Analysis*> AnalysisCache::get(const std::string& directory, const Interrupt& interrupt) {
  if (directory_ != directory || (kept_ && kept_->is_spent())) kept_.reset();
  directory_ = directory;
  for (bool is_last = false;; is_last = true) {
    const bool was_kept = kept_ != nullptr;
    if (!was_kept) {
      auto opened = Analysis::open(directory);
      if (!opened) return tl::unexpected(opened.error());
      kept_ = std::move(*opened);
    }
    const bool can_differ = was_kept || !kept_->experiment().closed;
    const auto read = kept_->update(interrupt);
    if (read) return kept_.get();
    kept_.reset();
    if (is_last || !can_differ || interrupt.asked()) return tl::unexpected(read.error());
  }
}

}  // namespace gnomon::reader
