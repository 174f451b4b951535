#include "figures/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "figures/chart.hpp"
#include "text/format_number.hpp"

namespace backplane {

using nlohmann::json;

bool IsOfOnePoint(const Figure& figure) {
  std::map<std::string, size_t> means;  // panel -> number of means; the other kinds belong to one
  for (const json& row : figure.rows)
    if (const std::string kind = row.at("kind");
        kind != "one" && kind != "ideal" && kind != "best" && kind != "end" && kind != "front" && kind != "advice")
      ++means[row.at("panel")];
  return !means.empty() && std::ranges::all_of(means, [](const auto& panel) { return panel.second == 1; });
}

json FiniteOrNull(double value) { return std::isfinite(value) ? json(value) : json(); }

void PutNumber(const Number& number, int digits, json* row) {
  (*row)["value"] = FiniteOrNull(number.value);
  if (number.low && number.high) {
    (*row)["low"] = FiniteOrNull(*number.low);
    (*row)["high"] = FiniteOrNull(*number.high);
  }
  (*row)["shown"] = FormatNumber(number, digits);
  (*row)["n"] = number.of.empty() ? std::to_string(number.n) : fmt::format("{} {}", number.n, number.of);
}

std::string Identifier(const std::string& text) {
  std::string identifier = "_";
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    identifier += is_plain ? c : '_';
  }
  return identifier;
}

json Specification(const Figure& figure) {
  return FillChart("figure", {{"alt", figure.alt},
                              {"title", figure.title},
                              {"rows", figure.rows},
                              {"choices", figure.choices},
                              {"panels", figure.panels},
                              {"columns", figure.columns}});
}

json ToJson(const Figure& figure) {
  return {{"name", figure.name}, {"title", figure.title}, {"alt", figure.alt}, {"specification", Specification(figure)}};
}

}  // namespace backplane
