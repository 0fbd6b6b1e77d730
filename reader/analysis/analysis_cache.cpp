// The analyses of the experiments that were asked for last. Any thread, one at a time.
#include "reader/analysis/analysis_cache.h"

#include <algorithm>
#include <utility>

namespace gnomon::reader {
namespace {

bool is_same_run(const Header& a, const Header& b) {
  return a.session == b.session && a.pid == b.pid && a.start_realtime == b.start_realtime;
}

}  // namespace

void AnalysisCache::forget() {
  kept_.clear();
  shared_ = std::make_shared<Shared>();
  shared_->space.set_debug_files(debug_files_);
  shared_->space.set_expansions(expansions_);
}

void AnalysisCache::use_expansions(const Expansions& expansions) {
  if (expansions == expansions_) return;
  expansions_ = expansions;
  if (shared_) shared_->space.set_expansions(expansions);
  for (const auto& each : kept_) each->forget_profiles();
}

void AnalysisCache::use_debug_files(const DebugFiles& files) {
  if (files == debug_files_) return;
  debug_files_ = files;
  forget();
}

std::vector<std::string> AnalysisCache::function_names() const {
  std::vector<std::string> names;
  const Profile* const profile = kept_.empty() ? nullptr : kept_.back()->kept_profile();
  for (std::uint32_t f = 0; profile && f < profile->functions(); ++f)
    if (const std::string& name = profile->name(FunctionId{f}); !name.starts_with('<'))
      names.push_back(name);
  return names;
}

bool AnalysisCache::is_other_run(const Analysis& opened) const {
  if (kept_.empty()) return false;
  const auto& kept = kept_.front()->parts();
  return !std::equal(kept.begin(), kept.end(), opened.parts().begin(), opened.parts().end(),
                     [](const auto& a, const auto& b) {
                       return is_same_run(a->experiment().header, b->experiment().header);
                     });
}

Result<std::vector<Span>> AnalysisCache::spans_of(const SpanChoice& choice, const Analysis& opened,
                                                  const ProgressOf& progress) {
  std::vector<Span> spans;
  for (const auto& part : opened.parts()) {
    const Experiment& experiment = part->experiment();
    Instants& instants = *shared_->instants[part->number() - 1];
    instants.read_new(experiment);
    auto span = find_span(choice, experiment, instants, progress(experiment));
    if (!span) return tl::unexpected(span.error());
    spans.push_back(*span);
  }
  return spans;
}

// Finds or opens the analysis of a choice, and makes it the last one.
Result<Analysis*> AnalysisCache::find(const EventChoice& choice, const ProgressOf& progress,
                                      bool& was_kept) {
  constexpr std::size_t kMost = 3;
  std::unique_ptr<Analysis> opened;
  const auto open = [&]() -> Result<void> {
    auto analysis = Analysis::open(directories_, shared_);
    if (!analysis) return tl::unexpected(analysis.error());
    opened = std::move(*analysis);
    return {};
  };
  std::vector<Span> spans(directories_.size());
  if (choice.span.kind != SpanChoice::Kind::whole) {
    if (auto done = open(); !done) return tl::unexpected(done.error());
    if (is_other_run(*opened)) {
      forget();
      return find(choice, progress, was_kept);
    }
    auto chosen = spans_of(choice.span, *opened, progress);
    if (!chosen) return tl::unexpected(chosen.error());
    spans = std::move(*chosen);
  }
  // Events that a filter chose by functions are others once inlined functions are shown.
  const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const auto& each) {
    return each->spans() == spans && each->filter() == choice.filter &&
           (choice.filter.empty() || (each->has_inlines() == choice.style.inlines &&
                                      each->has_kernel() == choice.style.kernel));
  });
  was_kept = same != kept_.end();
  if (was_kept) {
    std::rotate(same, same + 1, kept_.end());
    kept_.back()->show(choice.style);
    return kept_.back().get();
  }
  if (!opened)
    if (auto done = open(); !done) return tl::unexpected(done.error());
  opened->show(choice.style);
  if (auto limited = opened->limit_to(spans, choice.filter); !limited)
    return tl::unexpected(limited.error());
  if (kept_.size() == kMost) kept_.erase(kept_.begin());
  kept_.push_back(std::move(opened));
  return kept_.back().get();
}

// A recording that ends meanwhile, or a directory that was written anew, is worth a second look.
Result<Analysis*> AnalysisCache::get(const std::vector<std::string>& directories,
                                     const EventChoice& choice, const ProgressOf& progress,
                                     const Interrupt& interrupt) {
  const bool has_spent =
      std::any_of(kept_.begin(), kept_.end(), [](const auto& each) { return each->is_spent(); });
  if (directories_ != directories || has_spent || !shared_) forget();
  directories_ = directories;
  for (bool is_last = false;; is_last = true) {
    bool was_kept = false;
    auto found = find(choice, progress, was_kept);
    if (!found) return found;
    const bool can_differ = was_kept || kept_.size() > 1 || !(*found)->is_closed();
    const auto read = (*found)->update(interrupt);
    if (read) return found;
    forget();
    if (is_last || !can_differ || interrupt.asked()) return tl::unexpected(read.error());
  }
}

}  // namespace gnomon::reader
