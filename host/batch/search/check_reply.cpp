#include "search/check_reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/json_text.hpp"
#include "base/printable.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kValueColumns = 100;
constexpr double kRounding = 1e-9;  // of a bound whose logarithm is used

std::string Shown(const json& value) { return Printable(JsonText(value), kValueColumns); }

std::string Expected(const std::string& what, const json& reply, const char* key) {
  const auto found = reply.find(key);
  return fmt::format("expected {} as \"{}\", got {}", what, key, found == reply.end() ? "none" : Shown(*found));
}

bool IsNumber(const json& reply) {
  const auto found = reply.find("number");
  return found != reply.end() && found->is_number_integer() && *found >= 0;
}

bool IsOnStep(const json& value, const json& low, const json& distribution) {
  const int64_t step = static_cast<int64_t>(distribution.value("step", 1.0));
  // Unsigned: the distance may be larger than an int64_t. The value is known to be at least `low`.
  const uint64_t distance = value.get<uint64_t>() - static_cast<uint64_t>(low.get<int64_t>());
  return step <= 1 || distance % static_cast<uint64_t>(step) == 0;
}

// True if the distribution of a path can give this value.
bool IsWithin(const json& value, const json& distribution) {
  if (const auto choices = distribution.find("choice"); choices != distribution.end())
    return std::find(choices->begin(), choices->end(), value) != choices->end();
  for (const auto& [kind, bounds] : distribution.items()) {
    if (!bounds.is_array() || bounds.size() != 2) continue;
    const bool whole = std::string_view(kind).ends_with("int");
    if (!value.is_number() || (whole && !value.is_number_integer())) return false;
    const double low = bounds[0].get<double>(), high = bounds[1].get<double>(), at = value.get<double>();
    const double slack = whole ? 0 : kRounding * std::max(std::abs(low), std::abs(high));
    return std::isfinite(at) && at >= low - slack && at <= high + slack && (!whole || IsOnStep(value, bounds[0], distribution));
  }
  return false;
}

std::string ParamsError(const json& params, const json& space) {
  if (!params.is_object()) return "expected an object as \"params\", got " + Shown(params);
  for (const auto& [path, value] : params.items())
    if (!space.contains(path)) return fmt::format("it suggests a value for {}, which is not in the space", Printable(path));
  for (const auto& [path, distribution] : space.items()) {
    const auto found = params.find(path);
    if (found == params.end()) return fmt::format("it suggests no value for {}", path);
    if (!IsWithin(*found, distribution))
      return fmt::format("expected a value of {} from {}, got {}", path, Shown(distribution), Shown(*found));
  }
  return "";
}

std::string AskError(const json& reply, const SearchRecord& known) {
  if (!IsNumber(reply)) return Expected("a number from 0 on", reply, "number");
  const auto number = reply["number"].get<uint64_t>();
  if (known.suggestions.contains(number)) return fmt::format("it gives the number {} to a second suggestion", number);
  return ParamsError(reply.value("params", json()), known.open.value("space", json::object()));
}

}  // namespace

std::string ReplyError(const json& request, const json& reply, const SearchRecord& known, std::optional<uint64_t> number) {
  const std::string op = request.value("op", "");
  if (op == "ask") return AskError(reply, known);
  if (op == "open" && !(reply.contains("version") && reply["version"].is_string()))
    return Expected("Optuna's version, a text,", reply, "version");
  if (op == "report" && !(reply.contains("prune") && reply["prune"].is_boolean()))
    return Expected("true or false", reply, "prune");
  if (op == "adopt" && (!IsNumber(reply) || (number && reply["number"] != *number)))
    return Expected(number ? std::to_string(*number) : "a number from 0 on", reply, "number");
  return "";
}

}  // namespace backplane
