// Parses expressions over the properties of an event. Any thread.
#include "reader/filter/expression.h"

#include <fmt/format.h>
#include <strings.h>

#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>

#include "reader/base/one_line.h"
#include "reader/filter/tokens.h"

namespace gnomon::reader {
namespace {

using Node = Expression::Node;

struct Binary {
  std::string_view sign;
  Operator op;
  int strength;  // C's order
};
// Of signs that begin alike the longer stand first.
constexpr std::array kBinary{
    Binary{"||", Operator::logical_or, 1},
    Binary{"&&", Operator::logical_and, 2},
    Binary{"|", Operator::bit_or, 3},
    Binary{"^", Operator::bit_xor, 4},
    Binary{"&", Operator::bit_and, 5},
    Binary{"==", Operator::equal, 6},
    Binary{"!=", Operator::not_equal, 6},
    Binary{"<<", Operator::shift_left, 8},
    Binary{">>", Operator::shift_right, 8},
    Binary{"<=", Operator::less_equal, 7},
    Binary{">=", Operator::greater_equal, 7},
    Binary{"<", Operator::less, 7},
    Binary{">", Operator::greater, 7},
    Binary{"SOME IN", Operator::some_in, 7},
    Binary{"ORDERED IN", Operator::ordered_in, 7},
    Binary{"IN", Operator::in, 7},
    Binary{"+", Operator::add, 9},
    Binary{"-", Operator::subtract, 9},
    Binary{"*", Operator::multiply, 10},
    Binary{"/", Operator::divide, 10},
    Binary{"%", Operator::remainder, 10},
};

bool takes_lists(Operator op) {
  return op == Operator::in || op == Operator::some_in || op == Operator::ordered_in;
}

bool is_word_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

using Number = Result<std::uint32_t>;  // of a node

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Expression> parse() {
    auto whole = conditional();
    if (!whole) return tl::unexpected(whole.error());
    skip_blanks();
    if (at_ != text_.size()) return wrong("an operator is expected");
    if (auto numbers = check_numbers({*whole}); !numbers) return tl::unexpected(numbers.error());
    // The whole is the last node, as nothing is made behind it.
    return std::move(found_);
  }

 private:
  tl::unexpected<Fault> wrong(std::string_view what, std::string next = "see `help filters`") {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    return fault(rest.empty() ? fmt::format("{} at the end of {}", what, one_line(text_))
                              : fmt::format("{} before {}", what, one_line(rest)),
                 std::move(next));
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  // Takes a sign, or words with blanks between them, in any case.
  bool take(std::string_view sign) {
    skip_blanks();
    std::size_t at = at_;
    for (const char c : sign) {
      if (c == ' ') {
        const std::size_t begin = at;
        while (at < text_.size() && std::isspace(static_cast<unsigned char>(text_[at]))) ++at;
        if (at == begin) return false;
      } else if (at == text_.size() || std::toupper(static_cast<unsigned char>(text_[at])) != c) {
        return false;
      } else {
        ++at;
      }
    }
    if (is_word_part(sign.back()) && at < text_.size() && is_word_part(text_[at])) return false;
    at_ = at;
    return true;
  }

  std::uint32_t add(Node node) {
    found_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(found_.nodes.size() - 1);
  }

  // Fault: a part is a list; the text says up to where the expression was read.
  Result<void> check_numbers(std::initializer_list<std::uint32_t> parts) {
    for (const std::uint32_t part : parts)
      if (found_.nodes[part].is_list)
        return fault(fmt::format("a list stands where a number is expected, in {}",
                                 one_line(text_.substr(0, at_))),
                     "write LIST IN LIST, LIST SOME IN LIST or LIST ORDERED IN LIST");
    return {};
  }

  Number conditional() {
    constexpr int kDeepest = 100;
    if (++depth_ > kDeepest) return wrong("the expression is nested too deeply");
    auto first = binary(1);
    if (!first || !take("?")) {
      --depth_;
      return first;
    }
    auto yes = conditional();
    if (!yes) return yes;
    if (!take(":")) return wrong("`:` is expected");
    auto no = conditional();
    if (!no) return no;
    if (auto numbers = check_numbers({*first, *yes, *no}); !numbers)
      return tl::unexpected(numbers.error());
    --depth_;
    return add({Operator::conditional, 0, {}, {*first, *yes, *no}});
  }

  const Binary* take_binary(int weakest) {
    for (const Binary& each : kBinary) {
      const std::size_t before = at_;
      if (!take(each.sign)) continue;
      if (each.strength >= weakest) return &each;
      at_ = before;
      return nullptr;
    }
    return nullptr;
  }

  Number binary(int weakest) {
    auto left = unary();
    while (left) {
      const Binary* const found = take_binary(weakest);
      if (!found) return left;
      // A chain is as deep as it is long when it is evaluated.
      if (++operators_ > kMostOperators) return wrong("the expression has too many operators");
      auto right = binary(found->strength + 1);
      if (!right) return right;
      if (!takes_lists(found->op))
        if (auto numbers = check_numbers({*left, *right}); !numbers)
          return tl::unexpected(numbers.error());
      left = add({found->op, 0, {}, {*left, *right}});
    }
    return left;
  }

  Number unary() {
    constexpr std::array<std::pair<std::string_view, Operator>, 3> kSigns{
        {{"-", Operator::negate}, {"!", Operator::logical_not}, {"~", Operator::bit_not}}};
    std::vector<Operator> signs;
    for (bool any = true; any;) {
      any = take("+");
      for (const auto& [sign, op] : kSigns)
        if (take(sign)) {
          signs.push_back(op);
          any = true;
        }
    }
    operators_ += static_cast<int>(signs.size());
    if (operators_ > kMostOperators) return wrong("the expression has too many operators");
    auto operand = primary();
    for (auto sign = signs.rbegin(); operand && sign != signs.rend(); ++sign) {
      if (auto numbers = check_numbers({*operand}); !numbers)
        return tl::unexpected(numbers.error());
      operand = add({*sign, 0, {}, {*operand}});
    }
    return operand;
  }

  Number primary() {
    skip_blanks();
    if (at_ == text_.size()) return wrong("a value is missing");
    if (take("(")) return parenthesized();
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    std::size_t end = at_;
    while (end < text_.size() && is_word_part(text_[end])) ++end;
    if (end == at_) return wrong("a value is missing");
    const std::string word(text_.substr(at_, end - at_));
    return named(word, end);
  }

  Number parenthesized() {
    std::vector<std::uint32_t> parts;
    do {
      auto part = conditional();
      if (!part) return part;
      parts.push_back(*part);
    } while (take(","));
    if (!take(")")) return wrong("`)` is expected");
    if (parts.size() == 1) return parts.front();
    return add({Operator::list, 0, {}, std::move(parts), true});
  }

  Number number() {
    const char* begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    int base = 10;
    if (*begin == '0' && begin + 1 < end) {
      const bool is_hexadecimal = begin[1] == 'x' || begin[1] == 'X';
      base = is_hexadecimal ? 16 : std::isdigit(static_cast<unsigned char>(begin[1])) ? 8 : 10;
      begin += is_hexadecimal ? 2 : 0;
    }
    std::uint64_t value = 0;
    const auto [behind, error] = std::from_chars(begin, end, value, base);
    if (error != std::errc()) return wrong("a number is expected");
    at_ = static_cast<std::size_t>(behind - text_.data());
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kUnits{
        {{"NS", 1}, {"US", 1'000}, {"MS", 1'000'000}, {"S", 1'000'000'000}}};
    for (const auto& [unit, factor] : kUnits)
      if (at_ < text_.size() && is_word_part(text_[at_]) && take(unit)) value *= factor;
    if (at_ < text_.size() && is_word_part(text_[at_])) return wrong("this is no unit of time");
    return add({Operator::number, static_cast<std::int64_t>(value), {}, {}});
  }

  Number named(const std::string& word, std::size_t end) {
    const auto is = [&](const char* name) { return strcasecmp(word.c_str(), name) == 0; };
    if (is("TRUE") || is("FALSE")) {
      at_ = end;
      return add({Operator::number, is("TRUE") ? 1 : 0, {}, {}});
    }
    if (is("FNAME") || is("TNAME") || is("HASPROP")) {
      at_ = end;
      auto operand = text_in_parentheses();
      if (!operand) return tl::unexpected(operand.error());
      if (is("HASPROP")) {
        const auto token = find_token(*operand);
        if (!token) return unknown(*operand);
        return add({Operator::has_property, static_cast<std::int64_t>(*token), {}, {}});
      }
      const Operator op = is("FNAME") ? Operator::function_names : Operator::thread_names;
      return add({op, 0, std::move(*operand), {}, true});
    }
    const auto token = find_token(word);
    if (!token) return unknown(word);
    at_ = end;
    return add({Operator::token,
                static_cast<std::int64_t>(*token),
                {},
                {},
                is_list(token_table()[*token])});
  }

  static tl::unexpected<Fault> unknown(const std::string& word) {
    return fault(one_line(word) + " is no property of an event", "`describe` lists them");
  }

  // ("TEXT"), ('TEXT') or, as a debugger's command line may take quotes away, (TEXT).
  Result<std::string> text_in_parentheses() {
    if (!take("(")) return wrong("`(` is expected");
    skip_blanks();
    std::string text;
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote == '"' || quote == '\'') {
      for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == quote) ++at_;
        text += text_[at_];
      }
      if (at_ == text_.size()) return wrong("a quote is missing");
      ++at_;
    } else {
      int open = 0;
      for (; at_ < text_.size() && (open > 0 || text_[at_] != ')'); ++at_) {
        open += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
        text += text_[at_];
      }
      while (!text.empty() && text.back() == ' ') text.pop_back();
    }
    if (!take(")")) return wrong("`)` is expected");
    return text;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  static constexpr int kMostOperators = 1000;
  int depth_ = 0, operators_ = 0;
  Expression found_;
};

}  // namespace

Result<Expression> parse_expression(const std::string& text) {
  constexpr std::size_t kLongest = 64 << 10;
  if (text.size() > kLongest)
    return fault(fmt::format("the expression is longer than {} bytes", kLongest),
                 "make it shorter");
  return Parser(text).parse();
}

}  // namespace gnomon::reader
