#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/tokens.h"
#include "core/rng.h"

/// Nested operations on digits, as the Long Range Arena draws them: [MAX 4 [MIN 2 3 ] 1 [SM 5 6 ]
/// ]. An expression is a digit, or an operator, its arguments and the closing bracket, one token
/// each.
namespace weft::data::listops {

using core::Index;
using core::Token;

/// Token 0 is padding, 1 .. 10 are the digits; the operators come before the closing bracket.
inline constexpr Token first_digit = 1, first_operator = 11, closing = 15;
inline constexpr Index vocabulary = 16, digits = 10;

/// minimum, maximum, median (the mean of the middle two, rounded down), sum modulo ten
enum class Operator { min, max, med, sm };
inline constexpr std::array operators{Operator::min, Operator::max, Operator::med, Operator::sm};

inline bool is_digit(Token token) { return token >= first_digit && token < first_operator; }
inline bool is_operator(Token token) { return token >= first_operator && token < closing; }
inline Operator operator_of(Token token) { return Operator(token - first_operator); }

using Expression = std::vector<Token>;

struct Grammar {
  Index depth = 10;       ///< at this depth there are only digits; the outermost operator is at 1
  Index arguments = 10;   ///< an operator has 2 .. arguments of them
  double nesting = 0.25;  ///< how probable it is that an argument is an operation itself

  /// One attempt: the expression that the stream grows, if it has shortest .. longest tokens.
  std::optional<Expression> grow(const core::Rng& stream, Index shortest, Index longest) const;
};

/// The result of an operator on digits, at least one.
int apply(Operator op, std::vector<int> arguments);

/// The value of an expression. With `levels`, operations nested deeper than that are left out of
/// their operator's arguments; nothing when that leaves no argument at all.
std::optional<int> evaluate(std::span<const Token> expression, std::optional<Index> levels = {});

/// How many operators enclose the innermost digit.
Index depth_of(std::span<const Token> expression);

/// Symbols with a space between them.
std::string spelled(std::span<const Token> expression);
/// Symbols separated by white space, parentheses dropped; a usage error names an unknown one.
Expression read(std::string_view text);

}  // namespace weft::data::listops
