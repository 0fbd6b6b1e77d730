// What a report shows, as the user chose it. Any thread.
#pragma once
#include <cstddef>

#include "reader/analysis/profile_style.h"
#include "reader/base/interrupt.h"
#include "reader/lines/source_search.h"
#include "reader/metrics/metric_list.h"

namespace gnomon::reader {

struct View {
  MetricList metrics = default_metrics();
  Sort sort = default_sort();
  std::size_t limit = 0;  // rows, or functions where each has several; 0: all
  // Percent of the largest value in a listing, from which on a line, or an instruction, is hot.
  double source_threshold = 75, disassembly_threshold = 75;
  ProfileStyle style = {};
  SourceSearch sources = {};
  Interrupt interrupt = {};

  // Takes the list. The order becomes that of its first column where the list does not show what is
  // sorted by.
  void show(MetricList list);
};

// By the list's first metric; without any, by name.
Sort first_sort(const MetricList& list);

}  // namespace gnomon::reader
