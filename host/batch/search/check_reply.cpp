#include "search/check_reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/printable.hpp"
#include "record/search_messages.hpp"
#include "record/search_space.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kValueColumns = 100;
constexpr double kRounding = 1e-9;  // for a bound that is used as a logarithm

std::string Shown(const json& value) { return Printable(JsonText(value), kValueColumns); }

std::string Expected(const std::string& what, const char* key, const json& found) {
  return fmt::format("expected {} as \"{}\", got {}", what, key, found.is_null() ? "none" : Shown(found));
}

bool IsOnStep(const json& value, const SearchedOption& option) {
  const auto step = static_cast<int64_t>(option.step.value_or(1));
  // Unsigned, because the distance may exceed int64_t. The value is at least `low`.
  const uint64_t distance = value.get<uint64_t>() - static_cast<uint64_t>(option.lowest);
  return step <= 1 || distance % static_cast<uint64_t>(step) == 0;
}

// True if the distribution contains this value.
bool IsWithin(const json& value, const SearchedOption& option) {
  if (option.is_choice()) return std::ranges::find(option.choices, value) != option.choices.end();
  if (!value.is_number() || (option.whole && !value.is_number_integer())) return false;
  const double at = value.get<double>();
  const double slack = option.whole ? 0 : kRounding * std::max(std::abs(option.low), std::abs(option.high));
  return std::isfinite(at) && at >= option.low - slack && at <= option.high + slack &&
         (!option.whole || IsOnStep(value, option));
}

std::string ParamsError(const json& params, const json& space) {
  if (!params.is_object()) return "expected an object as \"params\", got " + Shown(params);
  for (const auto& [path, value] : params.items())
    if (!space.contains(path))
      return fmt::format("it suggests a value for {}, which is not in sweep.search.space", Printable(path));
  for (const SearchedOption& option : ReadSearchSpace(space)) {
    const auto found = params.find(option.path);
    if (found == params.end()) return fmt::format("it suggests no value for {}", option.path);
    if (!IsWithin(*found, option))
      return fmt::format("expected a value of {} from {}, got {}", option.path, Shown(space.at(option.path)), Shown(*found));
  }
  return "";
}

}  // namespace

std::string ReplyError(const json& request, const json& reply, const SearchRecord& known, std::optional<uint64_t> number) {
  const std::string op = ReadTolerantly<SearchRequest>(request).op;
  const auto read = ReadTolerantly<SearchReply>(reply);
  const std::optional<uint64_t> replied = CountOf(read.number);
  if (op == "ask") {
    if (!replied) return Expected("a number from 0 on", "number", read.number);
    if (known.suggestions.contains(*replied)) return Expected("an unused number", "number", read.number);
    return ParamsError(read.params, ReadTolerantly<SearchOpening>(known.open).space);
  }
  if (op == "open" && !read.version.is_string()) return Expected("Optuna's version as text", "version", read.version);
  if (op == "report" && !read.prune.is_boolean()) return Expected("true or false", "prune", read.prune);
  if (op == "adopt" && (!replied || (number && *replied != *number)))
    return Expected(number ? std::to_string(*number) : "a number from 0 on", "number", read.number);
  return "";
}

}  // namespace backplane
