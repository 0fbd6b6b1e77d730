// The dynamic section of a program's file: needed libraries and symbols. Any thread.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnomon::injector {

class Linkage {
 public:
  // Returns nothing if the file cannot be read or has no dynamic section.
  static std::optional<Linkage> of(const std::string& file);

  // DT_NEEDED: names of the libraries.
  const std::vector<std::string>& needed() const { return needed_; }
  // DT_SONAME: the library's own name; empty: it has none.
  const std::string& soname() const { return soname_; }
  // Returns true if the file defines or needs a dynamic symbol of this name.
  bool has_symbol(std::string_view name) const;

 private:
  std::vector<std::string> needed_;
  std::string soname_;
  std::string names_;  // the dynamic string table
};

}  // namespace gnomon::injector
