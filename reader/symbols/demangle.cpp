// Mangled names of C++, Rust, D and Ada, which anybody may have written. Any thread.
#include "reader/symbols/demangle.h"

#include <libiberty/demangle.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <memory>

namespace gnomon::reader {
namespace {

constexpr std::size_t kMostText = 64 << 10;  // bytes

struct Output {
  std::string text;
  bool is_too_long = false;
  std::jmp_buf too_long;
};

// The decoders go on until they have given everything; only a jump out of them ends them. They are
// C, and hold no memory meanwhile but for a few bytes of a Rust name with punycode.
void take(const char* piece, std::size_t length, void* to) {
  Output& output = *static_cast<Output*>(to);
  if (output.text.size() + length > kMostText) {
    output.is_too_long = true;
    std::longjmp(output.too_long, 1);
  }
  output.text.append(piece, length);
}

using Decode = int (*)(const char* name, int options, demangle_callbackref take, void* to);

bool decode(Decode decoder, const char* name, int options, Output& output) {
  if (setjmp(output.too_long) != 0) return false;
  return decoder(name, options, take, &output) != 0;
}

// The first characters of what is too long to be read, with its brackets closed, so that the
// function is found by its name without template arguments.
std::string begin_of(std::string text) {
  constexpr std::size_t kShown = 1024;
  text.resize(std::min(text.size(), kShown));
  while (!text.empty() && static_cast<unsigned char>(text.back()) >= 0x80) text.pop_back();
  std::string ends;
  for (const char c : text) {
    if (c == '<') ends += '>';
    if (c == '(') ends += ')';
    if (!ends.empty() && c == ends.back()) ends.pop_back();
  }
  return text + "..." + std::string(ends.rbegin(), ends.rend());
}

std::optional<std::string> decoded(Decode decoder, const std::string& name, int options) {
  Output output;
  if (decode(decoder, name.c_str(), options, output)) return std::move(output.text);
  if (output.is_too_long) return begin_of(std::move(output.text));
  return std::nullopt;
}

using Text = std::unique_ptr<char, void (*)(void*)>;

std::optional<std::string> owned(char* text) {
  const Text whole(text, std::free);
  if (!whole) return std::nullopt;
  return whole.get();
}

}  // namespace

// libiberty refuses names of more than 1024 characters unless told otherwise: it needs stack by
// their length, 170 bytes a character at most.
std::optional<std::string> demangle_cpp(const std::string& name) {
  constexpr std::size_t kLong = 8192;
  return decoded(cplus_demangle_v3_callback, name,
                 DMGL_PARAMS | (name.size() > kLong ? 0 : DMGL_NO_RECURSE_LIMIT));
}

std::optional<std::string> demangle_rust(const std::string& name) {
  return decoded(rust_demangle_callback, name, DMGL_NO_OPTS);
}

// Its decoder gives all at once. A 'Q' is a back reference; two of them can double what is decoded.
std::optional<std::string> demangle_d(const std::string& name) {
  constexpr std::ptrdiff_t kMostReferences = 44;
  if (name.size() > kMostText || std::count(name.begin(), name.end(), 'Q') > kMostReferences)
    return std::nullopt;
  auto text = owned(dlang_demangle(name.c_str(), DMGL_NO_OPTS));
  return text && text->size() <= kMostText ? std::move(text) : std::nullopt;
}

// A name that is not encoded comes back between '<' and '>'.
std::optional<std::string> demangle_ada(const std::string& name) {
  if (name.size() > kMostText) return std::nullopt;
  auto text = owned(ada_demangle(name.c_str(), DMGL_NO_OPTS));
  return text && !text->starts_with('<') ? std::move(text) : std::nullopt;
}

}  // namespace gnomon::reader
