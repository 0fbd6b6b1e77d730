// The function or source file that a report is about, by what the user typed. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reader/lines/places.h"
#include "reader/report/asked.h"

namespace gnomon::reader {

// name: as `functions` lists it, or its end. number: which of several, from 1; 0: the only one.
struct FunctionChoice {
  std::string name;
  std::size_t number = 0;
};

// Fault: it means none that was recorded, or several; says which those are.
Result<FunctionId> chosen(const FunctionChoice& choice, const Asked& asked);

// A function, or all of a source file.
struct ChosenCode {
  std::optional<FunctionId> function;
  SourceFileId file = SourceFileId::none;  // without a function
};
// The file if the name is the path of one that was met, or the end of one's path.
Result<ChosenCode> chosen_code(const FunctionChoice& choice, const Asked& asked,
                               const Places& places);

// The functions of a profile that begin in the file, by line and address.
std::map<std::uint32_t, std::vector<FunctionId>> functions_of(SourceFileId file,
                                                              const Profile& profile,
                                                              Places& places,
                                                              const Interrupt& interrupt);

}  // namespace gnomon::reader
