// The function that an interposed one stands before. Normal context: takes the loader's lock.
#pragma once

namespace gnomon::collector {

// Looked up at the first use, or before: afterwards any context. One word, so that two look-ups at
// the same time do no harm.
struct NextFunction {
  constexpr NextFunction(const char* wanted, const char* of_version)
      : name(wanted), version(of_version) {}

  const char *name, *version;
  void* found = nullptr;

  // Null: this libc does not have it.
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
