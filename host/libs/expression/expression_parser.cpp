#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/format_count.hpp"
#include "base/suggest.hpp"
#include "expression/expression_term.hpp"
#include "text/units.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

using Term = Expression::Term;

constexpr int kMaxDepth = 64;       // of brackets
constexpr int kMaxTermDepth = 500;  // of the tree: a row of operators leans to one side
constexpr size_t kMaxBytes = 65536;
const std::vector<std::string> kFunctions = {"min", "max", "abs", "floor", "ceil", "log2"};

constexpr std::string_view kGoals[] = {"steps_to", "reached"};  // record/goal.hpp
const std::vector<std::string> kOperatorWords = {"and", "or", "not", "in"};

// Words of YAML and of Python.
std::optional<nlohmann::json> ValueOfWord(const std::string& word) {
  if (word == "true" || word == "True") return true;
  if (word == "false" || word == "False") return false;
  if (word == "null" || word == "None") return nlohmann::json();
  return std::nullopt;
}

// Bytes above 127 are letters of other languages.
bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }
bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }

// The length of the number after a reduction, with its colon: ":10%" of "loss@mean:10%".
size_t LengthOfReductionNumber(std::string_view rest) {
  if (rest.size() < 2 || rest[0] != ':' || !std::isdigit(static_cast<unsigned char>(rest[1]))) return 0;
  size_t end = 1;
  const auto is_part = [&](size_t at) {
    const bool of_exponent = (rest[at] == '+' || rest[at] == '-') && (rest[at - 1] == 'e' || rest[at - 1] == 'E');
    return std::isdigit(static_cast<unsigned char>(rest[at])) || rest[at] == '.' || rest[at] == 'e' || rest[at] == 'E' ||
           of_exponent;
  };
  while (end < rest.size() && is_part(end)) ++end;
  return end < rest.size() && rest[end] == '%' ? end + 1 : end;
}

}  // namespace

void ExpressionParser::Fail(size_t offset, const std::string& why) const { throw NoValue{offset, "in the expression: " + why}; }

Term ExpressionParser::Within(Term term, Term operand) const {
  term.depth = std::max(term.depth, operand.depth + 1);
  if (term.depth > kMaxTermDepth) Fail(term.offset, fmt::format("more than {} operators in a row", kMaxTermDepth));
  term.args.push_back(std::move(operand));
  return term;
}

Term ExpressionParser::Binary(std::string name, size_t offset, Term left, Term right) const {
  return Within(Within({Term::Kind::kBinary, offset, nullptr, std::move(name), {}}, std::move(left)), std::move(right));
}

Term ExpressionParser::One(Term::Kind kind, size_t offset, Term operand) const {
  return Within({kind, offset, nullptr, "", {}}, std::move(operand));
}

Term ExpressionParser::WithList(Term term, char close) {
  for (Term& item : List(close)) term = Within(std::move(term), std::move(item));
  return term;
}

std::string ExpressionParser::Rest() const {
  return at_ >= text_.size() ? "the end" : fmt::format("'{}'", text_.substr(at_, 1));
}

void ExpressionParser::SkipBlanks() {
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
}

bool ExpressionParser::TakeSymbol(std::string_view symbol) {
  SkipBlanks();
  if (!text_.substr(at_).starts_with(symbol)) return false;
  at_ += symbol.size();
  return true;
}

bool ExpressionParser::TakeWord(std::string_view word) {
  SkipBlanks();
  const std::string_view rest = text_.substr(at_);
  if (!rest.starts_with(word)) return false;
  if (rest.size() > word.size() && (IsNameChar(rest[word.size()]) || rest[word.size()] == '.')) return false;
  at_ += word.size();
  return true;
}

std::string ExpressionParser::TakeOneOf(std::initializer_list<std::string_view> symbols) {
  for (std::string_view symbol : symbols) {
    if (TakeSymbol(symbol)) return std::string(symbol);
  }
  return "";
}

std::shared_ptr<const Term> ExpressionParser::Parse() {
  if (text_.size() > kMaxBytes)
    Fail(0, fmt::format("it has {} bytes, the limit is {}", FormatCount(text_.size()), FormatCount(kMaxBytes)));
  if (const std::string text(text_); ToUtf8(FromUtf8(text)) != text) Fail(0, "it is not UTF-8");
  Term term = Or();
  SkipBlanks();
  if (at_ < text_.size()) Fail(at_, fmt::format("expected an operator, got {}", Rest()));
  return std::make_shared<const Term>(std::move(term));
}

Term ExpressionParser::Or() {
  if (++depth_ > kMaxDepth) Fail(at_, "it is nested too deeply");
  Term left = And();
  for (size_t offset = at_; TakeWord("or"); offset = at_) left = Binary("or", offset, std::move(left), And());
  --depth_;
  return left;
}

Term ExpressionParser::And() {
  Term left = Not();
  for (size_t offset = at_; TakeWord("and"); offset = at_) left = Binary("and", offset, std::move(left), Not());
  return left;
}

Term ExpressionParser::Not() {
  int negations = 0;
  SkipBlanks();
  const size_t offset = at_;
  while (TakeWord("not")) {
    if (++negations > kMaxTermDepth) Fail(offset, fmt::format("more than {} operators in a row", kMaxTermDepth));
  }
  Term term = Comparison();
  for (; negations > 0; --negations) term = One(Term::Kind::kNot, offset, std::move(term));
  return term;
}

Term ExpressionParser::Comparison() {
  const auto take = [this]() -> std::string {
    SkipBlanks();
    const size_t before = at_;
    if (TakeWord("in")) return "in";
    if (TakeWord("not")) {
      if (TakeWord("in")) return "not in";
      at_ = before;
    }
    return TakeOneOf({"==", "!=", "<=", ">=", "<", ">"});
  };
  Term left = Sum();
  SkipBlanks();
  const size_t offset = at_;
  const std::string op = take();
  if (op.empty()) return left;
  left = Binary(op, offset, std::move(left), Sum());
  SkipBlanks();
  const size_t second = at_;
  if (!take().empty()) Fail(second, "comparisons cannot be chained; write 'a < b and b < c'");
  return left;
}

Term ExpressionParser::Sum() {
  Term left = Product();
  for (;;) {
    SkipBlanks();
    const size_t offset = at_;
    const std::string op = TakeOneOf({"+", "-"});
    if (op.empty()) return left;
    left = Binary(op, offset, std::move(left), Product());
  }
}

Term ExpressionParser::Product() {
  Term left = Unary();
  for (;;) {
    SkipBlanks();
    const size_t offset = at_;
    const std::string op = TakeOneOf({"//", "*", "/", "%"});
    if (op.empty()) return left;
    left = Binary(op, offset, std::move(left), Unary());
  }
}

Term ExpressionParser::Unary() {
  int minuses = 0;
  SkipBlanks();
  const size_t offset = at_;
  while (TakeSymbol("-")) {
    if (++minuses > kMaxTermDepth) Fail(offset, fmt::format("more than {} operators in a row", kMaxTermDepth));
  }
  Term term = Primary();
  for (; minuses > 0; --minuses) term = One(Term::Kind::kNegate, offset, std::move(term));
  return term;
}

Term ExpressionParser::Primary() {
  SkipBlanks();
  const size_t offset = at_;
  if (at_ >= text_.size()) Fail(at_, "expected a value, got the end");
  if (TakeSymbol("(")) {
    Term inner = Or();
    if (!TakeSymbol(")")) Fail(at_, fmt::format("expected ')', got {}", Rest()));
    return inner;
  }
  if (TakeSymbol("[")) return WithList({Term::Kind::kList, offset, nullptr, "", {}}, ']');
  const char c = text_[at_];
  if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return Number();
  if (c == '\'' || c == '"') return Text();
  if (IsNameStart(c)) return Name();
  Fail(at_, fmt::format("expected a value, got {}", Rest()));
}

std::vector<Term> ExpressionParser::List(char close) {
  std::vector<Term> items;
  if (TakeSymbol(std::string_view(&close, 1))) return items;
  do {
    items.push_back(Or());
  } while (TakeSymbol(","));
  if (!TakeSymbol(std::string_view(&close, 1))) Fail(at_, fmt::format("expected ',' or '{}', got {}", close, Rest()));
  return items;
}

Term ExpressionParser::Number() {
  const size_t offset = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const bool of_exponent = (c == '+' || c == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && at_ > offset;
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && !of_exponent) break;
    ++at_;
  }
  const std::string_view text = text_.substr(offset, at_ - offset);
  Term term{Term::Kind::kValue, offset, nullptr, "", {}};
  if (const auto integer = ParseInteger(text)) {
    term.value = *integer;
  } else if (const auto number = ParseNumber(text)) {
    term.value = *number;
  } else {
    Fail(offset, fmt::format("expected a number, got '{}'", text));
  }
  return term;
}

Term ExpressionParser::Text() {
  const size_t offset = at_;
  const size_t end = text_.find(text_[at_], at_ + 1);
  if (end == std::string_view::npos) Fail(offset, "the text has no closing quote");
  at_ = end + 1;
  return {Term::Kind::kValue, offset, std::string(text_.substr(offset + 1, end - offset - 1)), "", {}};
}

std::string_view ExpressionParser::TakeName() {
  const size_t offset = at_;
  const auto is_name_char = [&](size_t at) { return at < text_.size() && IsNameChar(text_[at]); };
  const auto joins = [&](size_t at) {
    return at < text_.size() && joins_.find(text_[at]) != std::string_view::npos && is_name_char(at + 1);
  };
  while (is_name_char(at_) || joins(at_)) ++at_;
  if (text_.substr(offset, at_ - offset).find('@') != std::string_view::npos) at_ += LengthOfReductionNumber(text_.substr(at_));
  return text_.substr(offset, at_ - offset);
}

// steps_to(METRIC, NUMBER) and the like are names of measures themselves.
Term ExpressionParser::Goal(size_t offset, const std::string& function) {
  SkipBlanks();
  const std::string metric(TakeName());
  const bool has_number = TakeSymbol(",");
  SkipBlanks();
  const size_t number = at_;
  while (at_ < text_.size() && text_[at_] != ')') ++at_;
  std::string_view written = text_.substr(number, at_ - number);
  while (written.ends_with(' ')) written.remove_suffix(1);
  const std::optional<double> value = ParseNumber(written);
  if (metric.empty() || !has_number || !value || !TakeSymbol(")"))
    Fail(offset, fmt::format("expected a metric and a number, such as {0}(eval/return, 475), got '{1}'", function,
                             text_.substr(offset, at_ - offset)));
  references_.emplace_back(offset, fmt::format("{}({}, {})", function, metric, *value));
  return {Term::Kind::kPath, offset, nullptr, references_.back().second, {}};
}

Term ExpressionParser::Name() {
  const size_t offset = at_;
  const std::string name(TakeName());
  if (const auto value = ValueOfWord(name)) return {Term::Kind::kValue, offset, *value, "", {}};
  if (std::find(kOperatorWords.begin(), kOperatorWords.end(), name) != kOperatorWords.end())
    Fail(offset, "expected a value, got '" + name + "'");
  if (!TakeSymbol("(")) {
    references_.emplace_back(offset, name);
    return {Term::Kind::kPath, offset, nullptr, name, {}};
  }
  if (of_measures_ && std::ranges::find(kGoals, name) != std::end(kGoals)) return Goal(offset, name);
  const bool known = std::find(kFunctions.begin(), kFunctions.end(), name) != kFunctions.end();
  if (!known) Fail(offset, "unknown function '" + name + "'" + DidYouMean(Nearest(name, Candidates(kFunctions))));
  const Term call = WithList({Term::Kind::kCall, offset, nullptr, name, {}}, ')');
  const bool any_number = name == "min" || name == "max";
  if (any_number ? call.args.empty() : call.args.size() != 1)
    Fail(offset, fmt::format("{} accepts {}, got {}", name, any_number ? "one or more values" : "one value", call.args.size()));
  return call;
}

}  // namespace backplane
