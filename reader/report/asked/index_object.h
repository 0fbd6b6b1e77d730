// Kinds of objects that events are summed up by: threads, CPUs, seconds, and those that the user
// defines. Any thread.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reader/analysis/thread_names.h"
#include "reader/base/result.h"

namespace gnomon::reader {

struct IndexObject {
  std::string name;        // "Threads"
  std::string expression;  // its value tells objects of the kind apart
};

// Those that are always there.
std::span<const IndexObject> predefined_index_objects();

// By its name in any case of its letters. Fault: says which there are.
Result<IndexObject> index_object_named(const std::string& name,
                                       const std::vector<IndexObject>& defined);

// Fault: there is one of that name that is always there, the name is no word, or the expression
// does not parse.
Result<void> check_index_object(const IndexObject& object);

// What objects of a kind are called: "Process 1, Thread 1234 (worker)".
class IndexNames {
 public:
  // analysis: must outlive the object.
  IndexNames(const IndexObject& object, const Analysis& analysis);
  std::string of(std::int64_t key) const;

 private:
  const Part* part(std::int64_t number) const;  // null: there is none
  std::string of_thread(std::int64_t key) const;
  std::string of_sample(std::int64_t key) const;

  std::string name_;
  const Analysis& analysis_;
  ThreadNames threads_;
};

}  // namespace gnomon::reader
