// An experiment, or a span of it, that stays open between reports. Any thread, one at a time.
#include "reader/analysis/analysis.h"

#include <algorithm>
#include <utility>

namespace gnomon::reader {
namespace {

LiveFiles live_files_of(const Header& header) {
  if (life_of(header) != Life::running) return {};
  return LiveFiles("/proc/" + std::to_string(header.pid));
}

bool is_same_run(const Header& a, const Header& b) {
  return a.session == b.session && a.pid == b.pid && a.start_realtime == b.start_realtime;
}

}  // namespace

Result<std::unique_ptr<Analysis>> Analysis::open(const std::string& directory,
                                                 std::shared_ptr<Shared> shared) {
  auto recording = Recording::open(directory);
  if (!recording) return tl::unexpected(recording.error());
  if (!shared) shared = std::make_shared<Shared>();
  return std::unique_ptr<Analysis>(new Analysis(std::move(*recording), std::move(shared)));
}

Analysis::Analysis(Recording recording, std::shared_ptr<Shared> shared)
    : recording_(std::move(recording)),
      shared_(std::move(shared)),
      room_(recording_.experiment().directory),
      sampled_(recording_.experiment().control.start_time) {
  // Clock samples that came late: the kernel's own tick, 10 ms at most, is no delay.
  sums_.set_limit(kTotalCpu, 2 * recording_.experiment().header.interval.value + 10'000'000);
}

// A kind without a time lies in no span but the whole recording.
std::uint64_t Analysis::time_of(const Event& event) {
  const EventLayout::Field*& field = times_[event.layout.id];
  if (!field)
    for (const EventLayout::Field& each : event.layout.fields)
      if (each.unit == format::Unit::time) field = &each;
  return field ? event.value(*field) : 0;
}

std::uint32_t Analysis::thread_of(const Event& event) {
  if (event.layout.is_compact) return event.block.thread;
  const auto thread = std::find_if(
      event.layout.fields.begin(), event.layout.fields.end(),
      [](const EventLayout::Field& each) { return each.unit == format::Unit::thread; });
  return thread == event.layout.fields.end() ? 0 : static_cast<std::uint32_t>(event.value(*thread));
}

Result<EventValue> Analysis::value_of(const std::string& expression) {
  auto parsed = parse_expression(expression);
  if (!parsed) return tl::unexpected(parsed.error());
  auto functions = std::make_unique<StackFunctions>(
      experiment().directory, shared_->space, has_inlines_ ? &shared_->places : nullptr,
      [this](const Experiment& now) { take_objects(now); });
  return EventValue::bind(std::move(*parsed), experiment(), shared_->instants,
                          std::move(functions));
}

Result<void> Analysis::limit_to(const Span& span, const std::string& filter) {
  span_ = span;
  filter_text_ = filter;
  if (filter.empty()) return {};
  auto value = value_of(filter);
  if (!value) return tl::unexpected(value.error());
  filter_.emplace(std::move(*value));
  return {};
}

Result<bool> Analysis::contains(const Event& event, const Interrupt& interrupt) {
  if (!span_.is_whole() && !span_.contains(time_of(event))) return false;
  if (!filter_) return true;
  const auto value = filter_->of(event, interrupt);
  if (!value) return tl::unexpected(value.error());
  return value->value_or(0) != 0;
}

Result<void> Analysis::add(const Event& event, const Interrupt& interrupt) {
  last_event_ = std::max(last_event_, time_of(event));
  if (!span_.is_whole() && !span_.contains(time_of(event))) return {};
  ++events_of_span_;
  const auto fits = contains(event, interrupt);
  if (!fits) return tl::unexpected(fits.error());
  if (!*fits) return {};
  ++events_that_fit_;
  ++events_[event.layout.id];
  const std::uint64_t before = sums_.total(kTotalCpu);
  if (!sums_.add(event, room_))
    return fault(experiment().directory + " is damaged: an event has a wrong call stack",
                 "record again");
  const std::uint64_t sampled = sums_.total(kTotalCpu) - before;
  sampled_.add(time_of(event), sampled);
  if (const std::uint32_t thread = thread_of(event); sampled != 0 && thread != last_thread_)
    threads_.insert(last_thread_ = thread);
  return {};
}

// A filter may be about the samples that end the parts of a recording.
Result<void> Analysis::update(const Interrupt& interrupt) {
  if (filter_) shared_->instants.read_new(experiment());
  const auto news =
      recording_.update(interrupt, [&](const Event& event) { return add(event, interrupt); });
  shared_->instants.read_new(experiment());
  is_spent_ = !news;
  if (!news) return tl::unexpected(news.error());
  if (*news || experiment().objects.size() != objects_) forget_profiles();
  return {};
}

std::span<const Sample> Analysis::span_samples() const {
  const std::vector<Sample>& all = samples().all();
  const auto earlier = [](const Sample& sample, std::uint64_t time) { return sample.time < time; };
  const auto begin = std::lower_bound(all.begin(), all.end(), span_.begin, earlier);
  const auto end = span_.end == Span::kOpen
                       ? all.end()
                       : std::lower_bound(all.begin(), all.end(), span_.end + 1, earlier);
  return {begin, std::max(begin, end)};
}

void Analysis::forget_profiles() {
  profile_.reset();
  for (auto& each : places_) each.reset();
}

void Analysis::show_inlines(bool are_shown) {
  if (are_shown != has_inlines_) forget_profiles();
  has_inlines_ = are_shown;
}

void Analysis::take_objects(const Experiment& now) {
  objects_ = now.objects.size();
  const LiveFiles live = live_files_of(now.header);
  shared_->space.refresh_made_code(now, live.root());
  shared_->space.set_objects(now.objects, live);
  shared_->places.objects_have_changed();
}

Result<const Profile*> Analysis::profile(const Interrupt& interrupt) {
  if (profile_) return &*profile_;
  AddressSpace& space = shared_->space;
  take_objects(experiment());
  shared_->space.set_interrupt(interrupt);
  auto built = Profile::build(sums_, recording_.stacks(), space,
                              has_inlines_ ? &shared_->places : nullptr, interrupt);
  // Symbols that an interruption kept from being loaded are missing from then on.
  if (built && interrupt.asked()) built = interrupted();
  space.set_interrupt({});
  is_spent_ = !built;
  if (!built) return tl::unexpected(built.error());
  profile_ = std::move(*built);
  return &*profile_;
}

Result<const PlaceProfile*> Analysis::places(Grain grain, const Interrupt& interrupt) {
  auto& kept = places_[index(grain)];
  if (kept) return &*kept;
  take_objects(experiment());
  shared_->space.set_interrupt(interrupt);
  const auto frames = stack_frames(sums_.used(), recording_.stacks(), interrupt);
  auto built =
      frames ? PlaceProfile::build(sums_, *frames, shared_->places, grain, has_inlines_, interrupt)
             : Result<PlaceProfile>(tl::unexpected(frames.error()));
  shared_->space.set_interrupt({});
  is_spent_ = !built;
  if (!built) return tl::unexpected(built.error());
  kept = std::move(*built);
  return &*kept;
}

std::vector<std::string> Analysis::symbol_notes() const {
  std::vector<std::string> notes;
  for (const std::string& missing : shared_->space.faults())
    notes.push_back("no symbols: " + missing);
  if (const std::string& refusal = shared_->space.made_code().refusal(); !refusal.empty())
    notes.push_back(refusal);
  for (const std::string& path : shared_->space.doubtful())
    notes.push_back("names may be those of another build: " + path +
                    " was changed since it was recorded, and has no build-id.");
  return notes;
}

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

// Finds or opens the analysis of a span, and makes it the last one.
Result<Analysis*> AnalysisCache::find(const EventChoice& choice, const ProgressOf& progress,
                                      bool& was_kept) {
  constexpr std::size_t kMost = 3;
  std::unique_ptr<Analysis> opened;
  Span span;
  if (choice.span.kind != SpanChoice::Kind::whole) {
    auto experiment = Analysis::open(directory_, shared_);
    if (!experiment) return tl::unexpected(experiment.error());
    opened = std::move(*experiment);
    if (!kept_.empty() &&
        !is_same_run(kept_.front()->experiment().header, opened->experiment().header)) {
      forget();
      return find(choice, progress, was_kept);
    }
    shared_->instants.read_new(opened->experiment());
    const Experiment& found = opened->experiment();
    auto chosen = find_span(choice.span, found, shared_->instants, progress(found));
    if (!chosen) return tl::unexpected(chosen.error());
    span = *chosen;
  }
  // Events that a filter chose by functions are others once inlined functions are shown.
  const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const auto& each) {
    return each->span() == span && each->filter() == choice.filter &&
           (choice.filter.empty() || each->has_inlines() == choice.inlines);
  });
  was_kept = same != kept_.end();
  if (was_kept) {
    std::rotate(same, same + 1, kept_.end());
    kept_.back()->show_inlines(choice.inlines);
    return kept_.back().get();
  }
  if (!opened) {
    auto experiment = Analysis::open(directory_, shared_);
    if (!experiment) return tl::unexpected(experiment.error());
    opened = std::move(*experiment);
  }
  opened->show_inlines(choice.inlines);
  if (auto limited = opened->limit_to(span, choice.filter); !limited)
    return tl::unexpected(limited.error());
  if (kept_.size() == kMost) kept_.erase(kept_.begin());
  kept_.push_back(std::move(opened));
  return kept_.back().get();
}

// A recording that ends meanwhile, or a directory that was written anew, is worth a second look.
Result<Analysis*> AnalysisCache::get(const std::string& directory, const EventChoice& choice,
                                     const ProgressOf& progress, const Interrupt& interrupt) {
  const bool has_spent =
      std::any_of(kept_.begin(), kept_.end(), [](const auto& each) { return each->is_spent(); });
  if (directory_ != directory || has_spent || !shared_) forget();
  directory_ = directory;
  for (bool is_last = false;; is_last = true) {
    bool was_kept = false;
    auto found = find(choice, progress, was_kept);
    if (!found) return found;
    const bool can_differ = was_kept || kept_.size() > 1 || !(*found)->experiment().closed;
    const auto read = (*found)->update(interrupt);
    if (read) return found;
    forget();
    if (is_last || !can_differ || interrupt.asked()) return tl::unexpected(read.error());
  }
}

}  // namespace gnomon::reader
