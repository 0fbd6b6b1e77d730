// The names of recorded threads. Any thread.
#include "reader/analysis/thread_names.h"

#include "reader/samples/samples.h"

namespace gnomon::reader {

ThreadNames thread_names(const Analysis& analysis) {
  ThreadNames names;
  for (const auto& part : analysis.parts()) {
    const auto take = [&](const std::vector<ThreadSample>& threads) {
      for (const ThreadSample& each : threads)
        if (!each.name.empty()) names[{part->number(), each.thread}] = each.name;
    };
    take(part->samples().baseline());
    for (const Sample& sample : part->samples().all()) take(sample.threads);
  }
  return names;
}

}  // namespace gnomon::reader
