// An experiment, or a span of it, that stays open between reports: its events summed up, its
// symbols loaded. Any thread, one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "reader/analysis/by_time.h"
#include "reader/analysis/place_profile.h"
#include "reader/analysis/profile.h"
#include "reader/analysis/span.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/recording.h"
#include "reader/filter/event_value.h"
#include "reader/metrics/sums.h"
#include "reader/samples/instants.h"
#include "reader/symbols/address_space.h"

namespace gnomon::reader {

// What the analyses of one experiment share.
struct Shared {
  Instants instants;
  AddressSpace space;
  Places places{space};
};

class Analysis {
 public:
  // Reads no event yet. Without `shared` the analysis has its own.
  static Result<std::unique_ptr<Analysis>> open(const std::string& directory,
                                                std::shared_ptr<Shared> shared = nullptr);

  // Only the events of a span count, and of those only the ones for which the expression is true.
  // To be called before the first `update`. filter: empty: all count. Fault: says what is wrong
  // with the expression.
  Result<void> limit_to(const Span& span, const std::string& filter);
  // Reads what was written since the last call. After a fault of this or of `profile` the object is
  // of no more use.
  Result<void> update(const Interrupt& interrupt);
  bool is_spent() const { return is_spent_; }

  const Experiment& experiment() const { return recording_.experiment(); }
  const Span& span() const { return span_; }
  const Instants& instants() const { return shared_->instants; }
  // Of the whole recording, and those from the span's begin to its end.
  const Samples& samples() const { return shared_->instants.samples; }
  std::span<const Sample> span_samples() const;
  const Sums& sums() const { return sums_; }
  // CPU time that the clock samples up to an instant stand for, ns.
  std::uint64_t sampled_until(std::uint64_t time) const { return sampled_.until(time); }
  // Returns true if the clock has sampled the thread in the span.
  bool has_sampled(std::uint32_t thread) const { return threads_.contains(thread); }
  std::uint64_t missing_blocks() const { return recording_.missing(); }
  std::uint64_t unfinished() const { return recording_.unfinished(); }
  // Events of a kind.
  std::uint64_t events(std::uint8_t kind) const { return events_[kind]; }
  // When the latest event was recorded, CLOCK_MONOTONIC, ns; 0: there is none.
  std::uint64_t last_event() const { return last_event_; }
  // Returns true if the event lies in the span and fits the filter. Fault: damage, or the user
  // interrupted.
  Result<bool> contains(const Event& event, const Interrupt& interrupt);
  const std::string& filter() const { return filter_text_; }
  // Events of the span, and those among them that fit the filter.
  std::uint64_t events_of_span() const { return events_of_span_; }
  std::uint64_t events_that_fit() const { return events_that_fit_; }
  // The value of an expression for each event. Valid as long as this analysis, until inlined
  // functions are shown or not.
  Result<EventValue> value_of(const std::string& expression);
  // Inlined functions are frames of their own from now on, or not; at first they are not. To be
  // called before the first `update` where a filter is about functions.
  void show_inlines(bool are_shown);
  bool has_inlines() const { return has_inlines_; }
  // Profiles are made anew when they are asked for next.
  void forget_profiles();
  // The profile of what was read; it is valid until the next `update`.
  Result<const Profile*> profile(const Interrupt& interrupt);
  // Likewise of lines or instructions.
  Result<const PlaceProfile*> places(Grain grain, const Interrupt& interrupt);
  const AddressSpace& address_space() const { return shared_->space; }
  SymbolState symbol_state(std::size_t file) { return shared_->space.symbol_state(file); }
  // Where code comes from.
  Places& code() { return shared_->places; }
  // Where the code of a function ends in its file, and the function at an address of a file.
  std::uint64_t end_of(const Function& function) { return shared_->space.end_of(function); }
  const Function& function_in(const Location& code) {
    return shared_->space.function(shared_->space.function_in(code));
  }
  // Why the code of a load object has no line numbers: by its path, a sentence.
  const std::map<std::string, std::string>& without_lines() const {
    return shared_->places.without_lines();
  }
  // Load objects whose code cannot be read, of those that a report of instructions asked for.
  std::vector<std::string> without_code() const { return shared_->places.without_code(); }
  // Why names are missing from the profile, sentences.
  std::vector<std::string> symbol_notes() const;

 private:
  Analysis(Recording recording, std::shared_ptr<Shared> shared);
  Result<void> add(const Event& event, const Interrupt& interrupt);
  std::uint64_t time_of(const Event& event);
  static std::uint32_t thread_of(const Event& event);
  void take_objects(const Experiment& now);

  Recording recording_;
  std::shared_ptr<Shared> shared_;
  Span span_;
  std::string filter_text_;
  std::optional<EventValue> filter_;
  std::uint64_t events_of_span_ = 0, events_that_fit_ = 0;
  StackRoom room_;
  Sums sums_;
  ByTime sampled_;
  std::optional<Profile> profile_;
  std::array<std::optional<PlaceProfile>, kGrains> places_;
  bool has_inlines_ = false;
  std::size_t objects_ = 0;  // load objects that the profile knows
  std::array<std::uint64_t, 256> events_{};
  std::array<const EventLayout::Field*, 256> times_{};  // by event kind; null: not found yet
  std::uint64_t last_event_ = 0;
  std::unordered_set<std::uint32_t> threads_;  // that the clock has sampled
  std::uint32_t last_thread_ = 0;              // the latest of those
  bool is_spent_ = false;
};

// Which events of an experiment count.
struct EventChoice {
  SpanChoice span = {};
  std::string filter = {};  // an expression; empty: all
  bool inlines = false;     // inlined functions are functions of their own
};

// The analyses of the experiment that was asked for last: of the whole and of a few spans.
class AnalysisCache {
 public:
  // What the process of that header is doing; asked only if the span depends on it.
  using ProgressOf = std::function<Progress(const Experiment&)>;

  // Symbols are loaded anew if these files are others than those of the last call.
  void use_debug_files(const DebugFiles& files);
  void use_expansions(const Expansions& expansions);
  // Opens the experiment, or reads what is new in it. The analysis is valid until the next call.
  Result<Analysis*> get(const std::string& directory, const EventChoice& choice,
                        const ProgressOf& progress, const Interrupt& interrupt);

 private:
  void forget();
  Result<Analysis*> find(const EventChoice& choice, const ProgressOf& progress, bool& was_kept);

  std::string directory_;
  DebugFiles debug_files_;
  Expansions expansions_;
  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Analysis>> kept_;  // used last: the last one
};

}  // namespace gnomon::reader
