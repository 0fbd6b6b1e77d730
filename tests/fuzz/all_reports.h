// Every report on an experiment, as a user would ask for them in one session. Any thread.
#pragma once
#include <string>
#include <vector>

namespace gnomon::fuzz {

struct Report {
  std::string command;
  bool is_given = false;
  std::string text;  // or the error
};

std::vector<Report> all_reports(const std::string& directory);

}  // namespace gnomon::fuzz
