#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "expression/expression_term.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using Term = Expression::Term;

std::string Shown(const json& value) { return value.is_string() ? "'" + value.get<std::string>() + "'" : value.dump(); }

[[noreturn]] void Fail(const Term& term, std::string why, bool of_numbers = false) {
  throw NoValue{term.offset, std::move(why), of_numbers};
}

void RequireNumber(const Term& at, const json& value) {
  if (value.is_number()) return;
  const std::string what = at.kind == Term::Kind::kPath ? "'" + at.name + "' is " : "expected a number, got ";
  Fail(at, what + Shown(value) + (at.kind == Term::Kind::kPath ? ", not a number" : ""));
}

bool RequireFlag(const Term& at, const json& value) {
  if (!value.is_boolean()) Fail(at, "expected true or false, got " + Shown(value));
  return value.get<bool>();
}

json Finite(const Term& at, double value) {
  if (!std::isfinite(value)) Fail(at, "the result is not a finite number", true);
  return value;
}

// nullopt if the result does not fit into 64 bits. '/' rounds down here.
std::optional<int64_t> WholeArithmetic(char op, int64_t x, int64_t y) {
  int64_t result = 0;
  switch (op) {
    case '+': return __builtin_add_overflow(x, y, &result) ? std::nullopt : std::optional(result);
    case '-': return __builtin_sub_overflow(x, y, &result) ? std::nullopt : std::optional(result);
    case '*': return __builtin_mul_overflow(x, y, &result) ? std::nullopt : std::optional(result);
    default: break;
  }
  if (y == -1) return std::nullopt;
  // The rest has the divisor's sign, so that a == b * (a // b) + a % b.
  const bool rounds_down = x % y != 0 && (x % y < 0) != (y < 0);
  return op == '%' ? x % y + (rounds_down ? y : 0) : x / y - (rounds_down ? 1 : 0);
}

// Whole numbers stay whole while they fit into 64 bits.
json Arithmetic(const Term& term, const json& left, const json& right) {
  const char op = term.name[0];
  const bool divides = op == '/' || op == '%';
  const double a = left.get<double>(), b = right.get<double>();
  if (divides && b == 0) Fail(term, fmt::format("{} {} {}: division by zero", left.dump(), term.name, right.dump()), true);
  if (left.is_number_integer() && right.is_number_integer() && term.name != "/") {
    if (const auto whole = WholeArithmetic(op, left.get<int64_t>(), right.get<int64_t>())) return *whole;
  }
  if (op == '+') return Finite(term, a + b);
  if (op == '-') return Finite(term, a - b);
  if (op == '*') return Finite(term, a * b);
  if (op == '%') return Finite(term, a - b * std::floor(a / b));
  return Finite(term, term.name == "//" ? std::floor(a / b) : a / b);
}

bool Compare(const Term& term, const json& left, const json& right) {
  const std::string& op = term.name;
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  const bool ordered = (left.is_number() && right.is_number()) || (left.is_string() && right.is_string());
  if (!ordered) Fail(term, fmt::format("{} and {} cannot be compared with {}", Shown(left), Shown(right), op));
  return op == "<" ? left < right : op == "<=" ? left <= right : op == ">" ? left > right : left >= right;
}

json Binary(const Term& term, const Expression::Lookup& lookup) {
  const Term &first = term.args[0], &second = term.args[1];
  const json left = Evaluate(first, lookup);
  if (term.name == "and") return RequireFlag(first, left) && RequireFlag(second, Evaluate(second, lookup));
  if (term.name == "or") return RequireFlag(first, left) || RequireFlag(second, Evaluate(second, lookup));
  const json right = Evaluate(second, lookup);
  if (term.name == "in" || term.name == "not in") {
    if (!right.is_array()) Fail(second, "expected a list after 'in', got " + Shown(right));
    const bool found = std::find(right.begin(), right.end(), left) != right.end();
    return found == (term.name == "in");
  }
  if (std::string_view("+-*/%").find(term.name[0]) == std::string_view::npos) return Compare(term, left, right);
  RequireNumber(first, left);
  RequireNumber(second, right);
  return Arithmetic(term, left, right);
}

json Whole(const Term& at, double value) {
  if (std::abs(value) < 0x1p63) return static_cast<int64_t>(value);
  return Finite(at, value);
}

json Call(const Term& term, const Expression::Lookup& lookup) {
  std::vector<json> values;
  for (const Term& arg : term.args) {
    json value = Evaluate(arg, lookup);
    RequireNumber(arg, value);
    values.push_back(std::move(value));
  }
  if (term.name == "min") return *std::min_element(values.begin(), values.end());
  if (term.name == "max") return *std::max_element(values.begin(), values.end());
  const json& value = values[0];
  const double x = value.get<double>();
  if (term.name == "abs") return x < 0 ? Arithmetic(Term{Term::Kind::kBinary, term.offset, nullptr, "-", {}}, 0, value) : value;
  if (term.name == "log2") {
    if (x <= 0) Fail(term, fmt::format("log2 of {} is undefined", value.dump()), true);
    return std::log2(x);
  }
  if (value.is_number_integer()) return value;
  return Whole(term, term.name == "floor" ? std::floor(x) : std::ceil(x));
}

}  // namespace

json Evaluate(const Term& term, const Expression::Lookup& lookup) {
  switch (term.kind) {
    case Term::Kind::kValue: return term.value;
    case Term::Kind::kPath: {
      std::string why_not;
      std::optional<json> value = lookup(term.name, &why_not);
      if (!value) Fail(term, why_not);
      return *std::move(value);
    }
    case Term::Kind::kList: {
      json list = json::array();
      for (const Term& item : term.args) list.push_back(Evaluate(item, lookup));
      return list;
    }
    case Term::Kind::kCall: return Call(term, lookup);
    case Term::Kind::kNot: return !RequireFlag(term.args[0], Evaluate(term.args[0], lookup));
    case Term::Kind::kNegate: {
      const json value = Evaluate(term.args[0], lookup);
      RequireNumber(term.args[0], value);
      return Arithmetic(Term{Term::Kind::kBinary, term.offset, nullptr, "-", {}}, 0, value);
    }
    case Term::Kind::kBinary: break;
  }
  return Binary(term, lookup);
}

}  // namespace backplane
