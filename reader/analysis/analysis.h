// An experiment that stays open between reports: its events summed up, its symbols loaded. Any
// thread, one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/analysis/profile.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/recording.h"
#include "reader/metrics/sums.h"
#include "reader/samples/samples.h"
#include "reader/symbols/address_space.h"

namespace gnomon::reader {

class Analysis {
 public:
  // Reads no event yet.
  static Result<std::unique_ptr<Analysis>> open(const std::string& directory);

  // Reads what was written since the last call. After a fault of this or of `profile` the object is
  // of no more use.
  Result<void> update(const Interrupt& interrupt);
  bool is_spent() const { return is_spent_; }

  const Experiment& experiment() const { return recording_.experiment(); }
  const Samples& samples() const { return samples_; }
  const Sums& sums() const { return sums_; }
  std::uint64_t unfinished() const { return recording_.unfinished(); }
  // Events of a kind.
  std::uint64_t events(std::uint8_t kind) const { return events_[kind]; }
  // The profile of what was read; it is valid until the next `update`.
  Result<const Profile*> profile(const Interrupt& interrupt);
  // Why names are missing from the profile, sentences.
  std::vector<std::string> symbol_notes() const;

 private:
  explicit Analysis(Recording recording)
      : recording_(std::move(recording)), room_(recording_.experiment().directory) {}
  Result<void> add(const Event& event);

  Recording recording_;
  Samples samples_;
  StackRoom room_;
  Sums sums_;
  AddressSpace space_;
  std::optional<Profile> profile_;
  std::size_t objects_ = 0;  // load objects that the profile knows
  std::array<std::uint64_t, 256> events_{};
  bool is_spent_ = false;
};

// The analysis of the experiment that was asked for last.
class AnalysisCache {
 public:
  // Opens the experiment, or reads what is new in it. The analysis is valid until the next call.
  Result<Analysis*> get(const std::string& directory, const Interrupt& interrupt);

 private:
  std::string directory_;
  std::unique_ptr<Analysis> kept_;
};

}  // namespace gnomon::reader
