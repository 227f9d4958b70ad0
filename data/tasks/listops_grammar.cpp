#include "data/tasks/listops_grammar.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace weft::data::listops {
namespace {

constexpr std::array<std::string_view, vocabulary> symbols = {
    "_", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "[MIN", "[MAX", "[MED", "[SM", "]"};

/// An expression under construction.
struct Growth {
  const Grammar& grammar;
  const core::Rng& stream;
  Index longest;
  std::uint64_t drawn = 0;
  Expression tokens = {};
  Index open = 0;  ///< brackets that are still to be closed

  /// False once the expression must become longer than allowed, whatever follows.
  bool grow(Index depth) {
    const bool nests = depth < grammar.depth && stream.uniform(drawn++) <= grammar.nesting;
    if (!nests) {
      tokens.push_back(Token(first_digit + stream.below(drawn++, digits)));
      return fits();
    }
    const Index arguments = 2 + stream.below(drawn++, grammar.arguments - 1);
    tokens.push_back(Token(first_operator + stream.below(drawn++, Index(operators.size()))));
    ++open;
    for (Index i = 0; i < arguments; ++i)
      if (!grow(depth + 1)) return false;
    tokens.push_back(closing);
    --open;
    return true;
  }

  bool fits() const { return Index(tokens.size()) + open <= longest; }
};

/// An operator whose bracket is open.
struct Open {
  Operator op;
  std::vector<int> arguments = {};  ///< those whose value is known
  Index count = 0;                  ///< of all arguments so far
};

[[noreturn]] void refuse(const char* what, std::span<const Token> expression) {
  throw core::Error(core::message_of("listops: ", what, " in '", spelled(expression), "'"));
}

}  // namespace

std::optional<Expression> Grammar::grow(const core::Rng& stream, Index shortest,
                                        Index longest) const {
  Growth growth{.grammar = *this, .stream = stream, .longest = longest};
  if (!growth.grow(1) || Index(growth.tokens.size()) < shortest) return {};
  return std::move(growth.tokens);
}

int apply(Operator op, std::vector<int> arguments) {
  std::ranges::sort(arguments);
  const std::size_t count = arguments.size();
  switch (op) {
    case Operator::min:
      return arguments.front();
    case Operator::max:
      return arguments.back();
    case Operator::med:
      return (arguments[(count - 1) / 2] + arguments[count / 2]) / 2;
    case Operator::sm:
      break;
  }
  return std::accumulate(arguments.begin(), arguments.end(), 0) % int(digits);
}

std::optional<int> evaluate(std::span<const Token> expression, std::optional<Index> levels) {
  std::vector<Open> open;
  std::optional<int> result;
  bool finished = false;
  const auto deliver = [&](std::optional<int> value) {
    if (finished) refuse("symbols after the end", expression);
    if (open.empty()) {
      result = value;
      finished = true;
      return;
    }
    ++open.back().count;
    if (value) open.back().arguments.push_back(*value);
  };
  for (const Token token : expression) {
    if (is_digit(token)) {
      deliver(token - first_digit);
    } else if (is_operator(token)) {
      open.push_back({operator_of(token)});
    } else {
      if (token != closing || open.empty() || open.back().count == 0)
        refuse("a bracket that closes nothing", expression);
      const bool known =
          (!levels || Index(open.size()) <= *levels) && !open.back().arguments.empty();
      Open inner = std::move(open.back());
      open.pop_back();
      deliver(known ? std::optional(apply(inner.op, std::move(inner.arguments))) : std::nullopt);
    }
  }
  if (!finished) refuse("a bracket that is not closed", expression);
  return result;
}

Index depth_of(std::span<const Token> expression) {
  Index open = 0, most = 0;
  for (const Token token : expression) {
    open += is_operator(token) ? 1 : token == closing ? -1 : 0;
    most = std::max(most, open);
  }
  return most;
}

std::string spelled(std::span<const Token> expression) {
  std::string text;
  for (const Token token : expression) {
    core::require(token >= 0 && token < vocabulary, "token ", token, " is no symbol of ListOps");
    text.append(text.empty() ? "" : " ").append(symbols[std::size_t(token)]);
  }
  return text;
}

Expression read(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n()";
  Expression tokens;
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    const std::string_view symbol = text.substr(at, end - at);
    const auto found = std::ranges::find(symbols, symbol);
    core::require(found != symbols.end(), "'", symbol, "' at byte ", at,
                  " is no symbol of ListOps: use 0-9, [MIN, [MAX, [MED, [SM and ]");
    tokens.push_back(Token(found - symbols.begin()));
    at = text.find_first_not_of(blanks, end);
  }
  return tokens;
}

}  // namespace weft::data::listops
