// Marks of hot lines and instructions in a listing. Any thread.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "reader/metrics/metric_list.h"
#include "reader/report/items.h"

namespace gnomon::reader {

class Marks {
 public:
  // list: metric columns. threshold: of the largest value in the listing, percent.
  Marks(const MetricList& list, double threshold) : threshold_(threshold) {
    for (const auto& each : list.columns)
      if (const auto& column = std::get<MetricColumn>(each); !column.is_percent)
        columns_.push_back({column, 0});
  }
  // The item is in the listing. To be called of all before the first mark is asked for.
  void regard(const Items& items, std::uint32_t item) {
    for (Largest& each : columns_) each.value = std::max(each.value, value(items, each, item));
  }
  // "##" if a value of the item reaches the threshold.
  std::string_view of(const Items& items, std::uint32_t item) const {
    for (const Largest& each : columns_)
      if (const std::uint64_t own = value(items, each, item);
          own != 0 &&
          100 * static_cast<double>(own) >= threshold_ * static_cast<double>(each.value))
        return "##";
    return "";
  }

 private:
  struct Largest {
    MetricColumn column;
    std::uint64_t value;
  };
  static std::uint64_t value(const Items& items, const Largest& of, std::uint32_t item) {
    return items.value(of.column.flavour, of.column.metric, item);
  }

  std::vector<Largest> columns_;
  double threshold_;
};

}  // namespace gnomon::reader
