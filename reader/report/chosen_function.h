// The function that a report is about, by what the user typed. Any thread.
#pragma once
#include <cstddef>
#include <string>

#include "reader/report/asked.h"

namespace gnomon::reader {

// name: as `functions` lists it, or its end. number: which of several, from 1; 0: the only one.
struct FunctionChoice {
  std::string name;
  std::size_t number = 0;
};

// Fault: it means none that was recorded, or several; says which those are.
Result<FunctionId> chosen(const FunctionChoice& choice, const Asked& asked);

}  // namespace gnomon::reader
