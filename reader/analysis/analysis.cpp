// One or several experiments that stay open between reports. Any thread, one at a time.
#include "reader/analysis/analysis.h"

#include <algorithm>
#include <utility>

namespace gnomon::reader {
namespace {

LiveFiles live_files_of(const Header& header) {
  if (life_of(header) != Life::running) return {};
  return LiveFiles("/proc/" + std::to_string(header.pid));
}

}  // namespace

Result<std::unique_ptr<Analysis>> Analysis::open(const std::vector<std::string>& directories,
                                                 std::shared_ptr<Shared> shared) {
  if (!shared) shared = std::make_shared<Shared>();
  std::unique_ptr<Analysis> analysis(new Analysis(shared));
  while (shared->instants.size() < directories.size())
    shared->instants.push_back(std::make_shared<Instants>());
  for (std::size_t i = 0; i < directories.size(); ++i) {
    auto part = Part::open(directories[i], shared->instants[i], static_cast<std::uint32_t>(i + 1));
    if (!part) return tl::unexpected(part.error());
    analysis->sums_.add((*part)->sums(), (*part)->stacks());
    analysis->parts_.push_back(std::move(*part));
  }
  analysis->objects_.resize(directories.size());
  return analysis;
}

std::vector<Span> Analysis::spans() const {
  std::vector<Span> spans;
  for (const auto& part : parts_) spans.push_back(part->span());
  return spans;
}

Epoch Analysis::newest_epoch(std::size_t part) const {
  std::uint32_t epoch = 0;
  for (const LoadObject& object : parts_[part]->experiment().objects) {
    epoch = std::max(epoch, object.first_epoch);
    if (object.end_epoch != LoadObject::kForGood) epoch = std::max(epoch, object.end_epoch);
  }
  return {static_cast<std::uint32_t>(part), epoch};
}

bool Analysis::is_closed() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->experiment().closed; });
}

Result<EventValue> Analysis::value_of(const std::string& expression, const Part& part) {
  auto parsed = parse_expression(expression);
  if (!parsed) return tl::unexpected(parsed.error());
  const Experiment& experiment = part.experiment();
  auto functions = std::make_unique<StackFunctions>(
      experiment.directory, part.number() - 1, shared_->space,
      style_.inlines ? &shared_->places : nullptr, style_.kernel,
      [this, &part](const Experiment& now) { take_objects(part, now); });
  return EventValue::bind(std::move(*parsed), experiment, part.number(), part.instants(),
                          std::move(functions));
}

Result<void> Analysis::limit_to(const std::vector<Span>& spans, const std::string& filter) {
  filter_ = filter;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    std::optional<EventValue> value;
    if (!filter.empty()) {
      auto bound = value_of(filter, *parts_[i]);
      if (!bound) return tl::unexpected(bound.error());
      value.emplace(std::move(*bound));
    }
    parts_[i]->limit_to(spans[i], std::move(value));
  }
  return {};
}

Result<void> Analysis::update(const Interrupt& interrupt) {
  bool has_news = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto news = parts_[i]->update(interrupt);
    is_spent_ = !news;
    if (!news) return tl::unexpected(news.error());
    has_news = has_news || *news || parts_[i]->experiment().objects.size() != objects_[i];
  }
  if (has_news) forget_profiles();
  return {};
}

void Analysis::forget_profiles() {
  profile_.reset();
  for (auto& each : places_) each.reset();
}

void Analysis::show(const ProfileStyle& style) {
  if (style != style_) forget_profiles();
  style_ = style;
}

void Analysis::take_objects(const Part& part, const Experiment& now) {
  const std::size_t number = part.number() - 1;
  objects_[number] = now.objects.size();
  shared_->space.set_objects(number, now, live_files_of(now.header));
  shared_->places.objects_have_changed();
}

void Analysis::take_all_objects() {
  for (const auto& part : parts_) take_objects(*part, part->experiment());
}

Result<const Profile*> Analysis::profile(const Interrupt& interrupt) {
  if (profile_) return &*profile_;
  AddressSpace& space = shared_->space;
  take_all_objects();
  space.set_interrupt(interrupt);
  auto built = Profile::build(sums_, space, shared_->places, style_, interrupt);
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
  take_all_objects();
  shared_->space.set_interrupt(interrupt);
  const auto frames = stack_frames(sums_, interrupt);
  auto built = frames
                   ? PlaceProfile::build(sums_, *frames, shared_->places, grain, style_, interrupt)
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
  for (const std::string& refusal : shared_->space.refusals()) notes.push_back(refusal);
  for (const std::string& path : shared_->space.doubtful())
    notes.push_back("names may be those of another build: " + path +
                    " was changed since it was recorded, and has no build-id.");
  return notes;
}

}  // namespace gnomon::reader
