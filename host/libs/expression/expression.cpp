#include "expression/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "expression/expression_term.hpp"

namespace backplane {

using nlohmann::json;

std::optional<Expression> Expression::Parse(const Node& text, Errors* errors) {
  if (!text.IsScalar()) {
    errors->Add(text.mark, "expected an expression as text");
    return std::nullopt;
  }
  Expression expression;
  expression.text_ = text.text;
  expression.mark_ = text.mark;
  expression.quoted_ = text.quoted;
  try {
    expression.Read(false);
  } catch (const NoValue& error) {
    errors->Add(expression.At(error.offset), error.why);
    return std::nullopt;
  }
  return expression;
}

Expression Expression::OfMeasures(const std::string& text) {
  Expression expression;
  expression.text_ = text;
  expression.Read(true);
  std::string& kept = expression.text_;
  auto& references = expression.references_;
  if (expression.root_->kind == Term::Kind::kPath) {  // in one spelling
    kept = expression.root_->name;
    references = {{0, kept}};
  }
  // Filled leaves a goal in another spelling as it is.
  std::erase_if(references, [&](const auto& one) { return kept.compare(one.first, one.second.size(), one.second) != 0; });
  return expression;
}

void Expression::Read(bool of_measures) {
  ExpressionParser parser(text_, of_measures);
  root_ = parser.Parse();
  references_ = parser.references();
  std::unordered_set<std::string_view> named;
  for (const auto& [offset, path] : references_) {
    if (named.insert(path).second) paths_.push_back(path);
  }
}

json Expression::Evaluate(const Lookup& lookup) const { return backplane::Evaluate(*root_, lookup); }

bool Expression::Test(const Lookup& lookup) const {
  const json value = Evaluate(lookup);
  if (!value.is_boolean()) throw NoValue{0, fmt::format("expected a condition (true or false), got {}", value.dump())};
  return value.get<bool>();
}

std::string Expression::Filled(const Lookup& lookup) const {
  std::string filled;
  size_t done = 0;
  for (const auto& [offset, path] : references_) {
    std::string why_not;
    const std::optional<json> value = lookup(path, &why_not);
    filled += text_.substr(done, offset - done) + (value ? value->dump() : path);
    done = offset + path.size();
  }
  return filled + text_.substr(done);
}

Mark Expression::At(size_t offset) const {
  if (!mark_.source || mark_.line < 1 || static_cast<size_t>(mark_.line) > mark_.source->lines.size()) return mark_;
  const std::string& line = mark_.source->lines[static_cast<size_t>(mark_.line) - 1];
  const size_t start = static_cast<size_t>(mark_.column) - 1 + (quoted_ ? 1 : 0);
  // A text over several lines, or one with escapes, has no simple columns.
  const bool as_written = start <= line.size() && line.compare(start, text_.size(), text_) == 0;
  return as_written ? Mark{mark_.source, mark_.line, static_cast<int>(start + offset) + 1} : mark_;
}

}  // namespace backplane
