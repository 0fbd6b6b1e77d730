// What a program's file asks of the loader. Any thread.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnomon::injector {

class Linkage {
 public:
  // nullopt: the file cannot be read, or asks nothing.
  static std::optional<Linkage> of(const std::string& file);

  // DT_NEEDED: the libraries by the names that it was linked with.
  const std::vector<std::string>& needed() const { return needed_; }
  // True if it defines a dynamic symbol of this name, or needs one.
  bool has_symbol(std::string_view name) const;

 private:
  std::vector<std::string> needed_;
  std::string names_;  // the dynamic string table
};

}  // namespace gnomon::injector
