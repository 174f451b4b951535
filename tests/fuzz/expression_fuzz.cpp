// Reads expressions of sweeps and of measures, and evaluates those whose names have values.
#include <cstdint>
#include <stdexcept>

#include "expression/expression.hpp"

namespace {

using namespace backplane;

std::optional<nlohmann::json> Lookup(const std::string& path, std::string* why_not) {
  if (path.size() % 5 == 0) return path;
  if (path.size() % 5 == 1) return static_cast<int64_t>(path.size()) - 3;
  if (path.size() % 5 == 2) return 0.5;
  if (path.size() % 5 == 3) return true;
  *why_not = "no value";
  return std::nullopt;
}

void Use(const Expression& expression) {
  expression.Filled(Lookup);
  try {
    const nlohmann::json value = expression.Evaluate(Lookup);
    if (value.is_number_float() && !std::isfinite(value.get<double>())) __builtin_trap();  // what evaluates is a finite number
  } catch (const NoValue& error) {
    expression.At(error.offset);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.text.assign(reinterpret_cast<const char*>(data), size);
  node.mark = {MakeSource("e.yaml", "/", "where: " + node.text, 0), 1, 8};
  Errors errors;
  if (const auto expression = Expression::Parse(node, &errors)) Use(*expression);
  for (const Diagnostic& diagnostic : errors.Sorted()) Format(diagnostic);
  try {
    Use(Expression::OfMeasures(node.text));
  } catch (const NoValue&) {
  }
  return 0;
}
