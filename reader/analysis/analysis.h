// One or several experiments, or spans of them, that stay open between reports: their events summed
// up, their symbols loaded. Any thread, one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/analysis/all_sums.h"
#include "reader/analysis/part.h"
#include "reader/analysis/place_profile.h"
#include "reader/analysis/profile.h"
#include "reader/analysis/profile_style.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/samples/instants.h"
#include "reader/symbols/address_space.h"

namespace gnomon::reader {

// What the analyses of the same experiments share.
struct Shared {
  std::vector<std::shared_ptr<Instants>> instants;  // by part
  AddressSpace space;
  Places places{space};
};

class Analysis {
 public:
  // Reads no event yet. directories: at least one. Without `shared` the analysis has its own.
  static Result<std::unique_ptr<Analysis>> open(const std::vector<std::string>& directories,
                                                std::shared_ptr<Shared> shared = nullptr);

  // Only the events of a span count, one for each part, and of those only the ones for which the
  // expression is true. To be called before the first `update`. filter: empty: all count. Fault:
  // says what is wrong with the expression.
  Result<void> limit_to(const std::vector<Span>& spans, const std::string& filter);
  // Reads what was written since the last call. After a fault of this or of `profile` the object is
  // of no more use.
  Result<void> update(const Interrupt& interrupt);
  bool is_spent() const { return is_spent_; }

  const std::vector<std::unique_ptr<Part>>& parts() const { return parts_; }
  // The first part, for reports about one experiment.
  Part& first() { return *parts_.front(); }
  const Part& first() const { return *parts_.front(); }
  const Experiment& experiment() const { return first().experiment(); }
  std::vector<Span> spans() const;
  // Returns true if nothing is written to the experiments any more.
  bool is_closed() const;
  const AllSums& sums() const { return sums_; }
  const std::string& filter() const { return filter_; }
  // The value of an expression for each event of a part. Valid as long as this analysis, until
  // inlined functions, or the kernel's, are shown or not.
  Result<EventValue> value_of(const std::string& expression, const Part& part);
  // To be called before the first `update` where a filter is about functions and inlined ones are
  // shown.
  void show(const ProfileStyle& style);
  bool has_inlines() const { return style_.inlines; }
  bool has_kernel() const { return style_.kernel; }
  // Profiles are made anew when they are asked for next.
  void forget_profiles();
  // The profile that was asked for last; null: it is out of date.
  const Profile* kept_profile() const { return profile_ ? &*profile_ : nullptr; }
  // The profile of what was read; it is valid until the next `update`.
  Result<const Profile*> profile(const Interrupt& interrupt);
  // Likewise of lines or instructions.
  Result<const PlaceProfile*> places(Grain grain, const Interrupt& interrupt);
  const AddressSpace& address_space() const { return shared_->space; }
  SymbolState symbol_state(std::size_t file) { return shared_->space.symbol_state(file); }
  // The epoch of what the process of a part has mapped now, and the function whose code is at `pc`
  // in an epoch.
  Epoch newest_epoch(std::size_t part = 0) const;
  FunctionId function_at(std::uint64_t pc, Epoch epoch) {
    return shared_->space.function_at(pc, epoch);
  }
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
  // Why inlined functions are not known, sentences.
  std::vector<std::string> without_inlines() const { return shared_->places.without_inlines(); }
  // Load objects whose code cannot be read, of those that a report of instructions asked for.
  std::vector<std::string> without_code() const { return shared_->places.without_code(); }
  // Why names are missing from the profile, sentences.
  std::vector<std::string> symbol_notes() const;

 private:
  explicit Analysis(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  void take_objects(const Part& part, const Experiment& now);
  void take_all_objects();

  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Part>> parts_;
  AllSums sums_;
  std::string filter_;
  ProfileStyle style_;
  std::optional<Profile> profile_;
  std::array<std::optional<PlaceProfile>, kGrains> places_;
  std::vector<std::size_t> objects_;  // load objects that the profile knows, by part
  bool is_spent_ = false;
};

}  // namespace gnomon::reader
