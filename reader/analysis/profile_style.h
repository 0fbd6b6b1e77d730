// How profiles name functions, and which frames they have. Any thread.
#pragma once
#include <cstdint>

namespace gnomon::reader {

// with_parameters: as the source has them. mangled: as the file has them.
enum class NameForm : std::uint8_t { with_parameters, without_parameters, mangled };

struct ProfileStyle {
  bool inlines = false;     // inlined functions are frames of their own
  bool kernel = false;      // so are the kernel's; else they count for what called the kernel
  bool is_machine = false;  // outlined parts stand under their function's caller, as they ran
  NameForm names = NameForm::with_parameters;
  bool has_object_names = false;  // the load object stands behind every name

  bool operator==(const ProfileStyle&) const = default;
};

}  // namespace gnomon::reader
