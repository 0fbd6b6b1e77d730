// The original of an interposed function. Normal context: takes the loader's lock.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Looked up by find(), at the first use at the latest; afterwards any context may call it. The
// result is one word, so that two threads may look it up at once. A function that is hooked already
// is looked up anew for each recording, into `sought`, and keeps its result meanwhile.
struct NextFunction {
  // of_version: null: the default one.
  constexpr explicit NextFunction(const char* wanted, const char* of_version = nullptr)
      : name(wanted), version(of_version) {}

  const char *name, *version;
  void* found = nullptr;
  void* sought = nullptr;
  std::uint64_t definer = 0;  // where the object begins in which it was found; 0: not known

  // Returns null if this libc does not have the function.
  void* find();
};

template <typename Function>
struct NextSymbol : NextFunction {
  using NextFunction::NextFunction;

  Function get() { return reinterpret_cast<Function>(found ? found : find()); }
  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    return get()(arguments...);
  }
};

}  // namespace gnomon::collector
