// The function or source file that a report is about, by what the user typed. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reader/lines/places.h"
#include "reader/report/asked/asked.h"

namespace gnomon::reader {

// name: as `functions` lists it, or its end. number: which of several, from 1; 0: the only one.
struct FunctionChoice {
  std::string name;
  std::size_t number = 0;
};

// Fault: the name means no function that was recorded, or several and no number is given; the text
// lists those.
Result<FunctionId> chosen(const FunctionChoice& choice, const Asked& asked);

// A function, or all of a source file.
struct ChosenCode {
  std::optional<FunctionId> function;
  SourceFileId file = SourceFileId::none;  // without a function
};
// Returns a file if the name is the path, or the end of the path, of a source file that recorded
// code comes from; else a function.
Result<ChosenCode> chosen_code(const FunctionChoice& choice, const Asked& asked,
                               const Places& places);

// The functions of a profile that begin in the file, by line and address.
std::map<std::uint32_t, std::vector<FunctionId>> functions_of(SourceFileId file,
                                                              const Profile& profile,
                                                              Places& places,
                                                              const Interrupt& interrupt);

}  // namespace gnomon::reader
