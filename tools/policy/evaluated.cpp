#include "policy/evaluated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "statistics/proportion.hpp"
#include "text/csv_field.hpp"

namespace backplane {
namespace {

constexpr std::pair<const char*, double> kQuantiles[] = {
    {"q05", 0.05}, {"q25", 0.25}, {"q50", 0.5}, {"q75", 0.75}, {"q95", 0.95}};

std::string TextOf(const Factors& factors) {
  std::string text;
  for (const auto& [name, factor] : factors) text += fmt::format("{}{} x {:g}", text.empty() ? "" : ", ", name, factor);
  return text;
}

std::string NameOf(const EvaluatedRow& row) {
  std::string name = row.policy == kZeroPolicy ? "zero actions" : row.policy == kUniformPolicy ? "uniform actions" : row.trial;
  if (name.empty()) name = "policy";
  const std::string factors = TextOf(row.factors);
  return factors.empty() ? name : name + ", " + factors;
}

Number NumberOf(const std::vector<double>& values) {
  Number number = Mean(values, "episodes");
  if (!IsRate(values)) return number;
  const auto successes = static_cast<size_t>(std::ranges::count(values, 1.0));
  const statistics::Interval exact = statistics::ExactProportion(successes, values.size());
  number.low = exact.low, number.high = exact.high;
  return number;
}

// The names of all ep/ metrics of the rows.
std::set<std::string> InfoNames(const Evaluated& evaluated) {
  std::set<std::string> names;
  for (const EvaluatedRow& row : evaluated.rows)
    for (const auto& [name, values] : row.episodes.infos) names.insert(name);
  return names;
}

nlohmann::ordered_json JsonOf(const std::vector<double>& values) {
  const Number number = NumberOf(values);
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  nlohmann::ordered_json json = {{"mean", number.value}, {"n", values.size()}};
  if (number.sd) json.emplace("sd", *number.sd);
  if (number.low && number.high) json.emplace("low", *number.low), json.emplace("high", *number.high);
  json.emplace("interval", IsRate(values) ? "exact" : "t");
  for (const auto& [name, q] : kQuantiles) json.emplace(name, Quantile(sorted, q));
  return json;
}

}  // namespace

bool IsRate(const std::vector<double>& values) {
  return !values.empty() && std::ranges::all_of(values, [](double value) { return value == 0 || value == 1; });
}

Table TableOf(const Evaluated& evaluated) {
  Table table;
  table.id = "evaluation";
  const std::set<std::string> infos = InfoNames(evaluated);
  const auto column = [&](const std::string& key, const std::string& title) {
    table.columns.emplace_back();
    table.columns.back().key = key, table.columns.back().title = title;
  };
  column("policy", "policy"), column("checkpoint", "checkpoint"), column("return", "return");
  column("q05", "5 %"), column("q50", "median"), column("q95", "95 %"), column("length", "length");
  for (const std::string& name : infos) column(name, name);
  for (const EvaluatedRow& row : evaluated.rows) {
    std::vector<double> sorted = row.episodes.returns;
    std::ranges::sort(sorted);
    const std::string checkpoint =
        row.iterations ? fmt::format("{} (iteration {})", row.checkpoint, *row.iterations) : std::string();
    std::vector<Cell> cells = {NameOf(row), checkpoint, NumberOf(row.episodes.returns)};
    for (const double q : {0.05, 0.5, 0.95}) cells.emplace_back(Reading(Quantile(sorted, q)));
    cells.emplace_back(NumberOf(row.episodes.lengths));
    for (const std::string& name : infos) {
      const auto found = row.episodes.infos.find(name);
      cells.push_back(found == row.episodes.infos.end() ? Cell() : Cell(NumberOf(found->second)));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

nlohmann::ordered_json JsonOf(const Evaluated& evaluated) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const EvaluatedRow& row : evaluated.rows) {
    nlohmann::ordered_json one = {{"trial", row.trial}, {"policy", row.policy}};
    if (row.iterations) one.emplace("checkpoint", row.checkpoint), one.emplace("iterations", *row.iterations);
    one.emplace("factors", row.factors);
    one.emplace("differences", row.differences);
    one.emplace("return", JsonOf(row.episodes.returns));
    one.emplace("length", JsonOf(row.episodes.lengths));
    for (const auto& [name, values] : row.episodes.infos) one.emplace(name, JsonOf(values));
    one.emplace("capped", row.episodes.capped);
    one.emplace("wall_s", row.episodes.wall_s);
    rows.push_back(std::move(one));
  }
  return {{"episodes", evaluated.n}, {"seed", evaluated.seed}, {"mode", "greedy"}, {"rows", std::move(rows)}};
}

std::string CsvOf(const Evaluated& evaluated) {
  const std::set<std::string> infos = InfoNames(evaluated);
  std::set<std::string> parameters;
  for (const EvaluatedRow& row : evaluated.rows)
    for (const auto& [name, factor] : row.factors) parameters.insert(name);
  std::string csv = "trial,policy,iterations";
  for (const std::string& name : parameters) csv += "," + CsvField(name);
  csv += ",episode,return,length";
  for (const std::string& name : infos) csv += "," + CsvField(name);
  for (const EvaluatedRow& row : evaluated.rows) {
    std::string head =
        fmt::format("\n{},{},{}", CsvField(row.trial), row.policy, row.iterations ? std::to_string(*row.iterations) : "");
    for (const std::string& name : parameters)
      head += fmt::format(",{}", row.factors.contains(name) ? row.factors.at(name) : 1.0);
    for (size_t i = 0; i < row.episodes.returns.size(); ++i) {
      csv += fmt::format("{},{},{},{}", head, i, row.episodes.returns[i], row.episodes.lengths[i]);
      for (const std::string& name : infos) {
        const auto found = row.episodes.infos.find(name);
        csv += found == row.episodes.infos.end() ? "," : fmt::format(",{}", found->second[i]);
      }
    }
  }
  return csv + "\n";
}

}  // namespace backplane
