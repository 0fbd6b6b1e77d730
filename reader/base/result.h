// Errors as values: what happened and what to do next. Any thread.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "reader/base/one_line.h"

namespace gnomon {

struct Fault {
  std::string what;  // one clause, no full stop
  std::string next;  // what the user can do; may be empty
};

template <typename T>
using Result = tl::expected<T, Fault>;

inline tl::unexpected<Fault> fault(std::string what, std::string next = {}) {
  return tl::unexpected<Fault>(Fault{std::move(what), std::move(next)});
}

// One sentence: "what; next."
inline std::string sentence(const Fault& fault) {
  const std::string text =
      one_line(fault.next.empty() ? fault.what : fault.what + "; " + fault.next);
  return text.ends_with('?') ? text : text + ".";
}

}  // namespace gnomon
