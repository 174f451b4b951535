#include "record/search_space.hpp"

#include <algorithm>
#include <cmath>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace backplane {
namespace {

struct NumberKind {
  const char* word;
  bool whole, log;
};
constexpr NumberKind kNumberKinds[] = {
    {"uniform", false, false}, {"log_uniform", false, true}, {"int", true, false}, {"log_int", true, true}};

std::optional<SearchedOption> ReadOption(const std::string& path, const nlohmann::json& said) {
  SearchedOption option;
  option.path = path;
  if (const nlohmann::json& choices = At(said, "choice"); choices.is_array() && !choices.empty()) {
    option.choices.assign(choices.begin(), choices.end());
    return option;
  }
  for (const NumberKind& kind : kNumberKinds) {
    const nlohmann::json& ends = At(said, kind.word);
    if (!ends.is_array() || ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) continue;
    option.whole = kind.whole;
    option.log = kind.log;
    option.low = ends[0].get<double>();
    if (kind.whole && ends[0].is_number_integer()) option.lowest = ends[0].get<int64_t>();
    option.high = ends[1].get<double>();
    option.step = NumberOf(At(said, "step"));
    return option;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> SearchedOption::PlaceOf(const nlohmann::json& value) const {
  if (is_choice()) {
    const auto found = std::find(choices.begin(), choices.end(), value);
    if (found == choices.end()) return std::nullopt;
    const auto last = static_cast<double>(std::max<size_t>(choices.size(), 2) - 1);
    return static_cast<double>(found - choices.begin()) / last;
  }
  if (!value.is_number()) return std::nullopt;
  const auto scaled = [this](double x) { return log ? std::log(x) : x; };
  const double place = (scaled(value.get<double>()) - scaled(low)) / (scaled(high) - scaled(low));
  if (low == high) return 0.5;
  return std::isfinite(place) ? std::optional(std::clamp(place, 0.0, 1.0)) : std::nullopt;
}

std::vector<SearchedOption> ReadSearchSpace(const nlohmann::json& space) {
  std::vector<SearchedOption> options;
  if (!space.is_object()) return options;
  for (const auto& [path, said] : space.items())
    if (std::optional<SearchedOption> option = ReadOption(path, said)) options.push_back(std::move(*option));
  return options;
}

std::string ChoiceWords(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.size() == 1 && value.contains("plugin")) return Text(value["plugin"], JsonText(value));
  return JsonText(value);
}

}  // namespace backplane
