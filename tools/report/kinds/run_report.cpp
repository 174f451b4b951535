#include "kinds/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "kinds/question.hpp"
#include "kinds/report_builders.hpp"
#include "record/best_measures.hpp"
#include "record/metric_series.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

constexpr char kEvaluated[] = "eval/", kZero[] = "floor_zero/", kUniform[] = "floor_uniform/";

const TrialData& TrialOf(const std::vector<ResultSet>& sets) {
  for (const ResultSet& set : sets)
    if (!set.trials.empty()) return set.trials.front();
  static const TrialData kNone;
  return kNone;
}

std::vector<std::string> EpisodeMeasures(const TrialData& trial) {
  std::vector<std::string> names = {"return"};
  for (const auto& [name, number] : trial.measures)
    if (name.starts_with("ep/")) names.push_back(name);
  for (const auto& [name, share] : trial.not_finite)
    if (name.starts_with("ep/") && trial.Find(name) == nullptr) names.push_back(name);
  return names;
}

std::optional<Table> Learned(const TrialData& trial) {
  const bool evaluated = trial.Find("eval/return") != nullptr || trial.not_finite.contains("eval/return");
  Table table{"learned", "Learning results", {{"measure", "measure", "", "means over episodes"}}, {}, {}, {}};
  std::vector<std::string> sides = {evaluated ? kEvaluated : ""};
  table.columns.push_back(
      {"learned", evaluated ? "evaluation" : "training", "", "the last evaluation, else the last episodes of training"});
  for (const auto& [prefix, title, doc] : {std::tuple{kZero, "zero actions", "their return on the seeds of the evaluation"},
                                           {kUniform, "random actions", "their return on the seeds of the evaluation"}}) {
    if (trial.Find(std::string(prefix) + "return") == nullptr) continue;
    sides.emplace_back(prefix);
    table.columns.push_back({prefix, title, "", doc});
  }
  for (const std::string& name : EpisodeMeasures(trial)) {
    std::vector<Cell> row{name};
    for (const std::string& side : sides) {
      const std::string of_side = NameUnder(side, name);
      const Number* number = trial.Find(of_side);
      row.push_back(number != nullptr ? Cell{*number} : trial.not_finite.contains(of_side) ? Cell{"not finite"} : Cell{});
    }
    if (!std::holds_alternative<std::monostate>(row[1])) table.rows.push_back(std::move(row));
  }
  return table.rows.empty() ? std::nullopt : std::optional(std::move(table));
}

// Empty: the trial keeps no best checkpoint.
std::string BestPolicy(const TrialData& trial) {
  const Number* iteration = trial.Find(kBestIteration);
  if (iteration == nullptr) return "";
  std::string value;
  for (const auto& [name, number] : trial.measures)
    if (name.starts_with(kBestPrefix) && name != kBestIteration) value = name + " " + FormatNumber(number, 4);
  return fmt::format(
      " These are measures of the last policy. The best policy (best.bin), of iteration {:g}, has {}. This score is the best "
      "of several evaluations, so it is too good on average.",
      iteration->value, value);
}

std::string Headline(const TrialData& trial, bool asks_for_return) {
  const std::string name = PointName(trial);
  if (!trial.usable())
    return fmt::format("{}: {}{}", name, Word(trial.state),
                       trial.why.empty() ? "." : ", " + PrintableFirstLine(trial.why) + ".");
  if (!asks_for_return) return "";
  const Number* evaluated = trial.Find("eval/return");
  const Number* earned = evaluated != nullptr ? evaluated : trial.Find("return");
  if (earned == nullptr) return "";
  std::string text = fmt::format("{}: {} {} over {} {}", name, evaluated != nullptr ? "evaluation return" : "return",
                                 FormatNumber(*earned, 4), earned->n, earned->n == 1 ? "episode" : "episodes");
  for (const auto& [floor, words] :
       {std::pair{"floor_zero/return", "zero actions earn"}, {"floor_uniform/return", "random ones"}})
    if (const Number* number = trial.Find(floor)) text += fmt::format("; {} {}", words, FormatNumber(*number, 4));
  return text + "." + (GoalOfConfig(trial.config) ? fmt::format(" It {}.", trial.why) : "") + BestPolicy(trial);
}

}  // namespace

Document RunReport(const std::vector<ResultSet>& sets, const ReportContext& context) {
  Document document = ComparisonReport(sets, context);
  const TrialData& trial = TrialOf(sets);
  document.kind = "run";
  document.name = context.report.name.value_or(document.kind);
  document.title = "Run: " + PointName(trial);
  if (const std::string headline = Headline(trial, AsksForReturn(sets, context.report)); !headline.empty()) {
    document.verdict.front() = headline;
    document.is_void = false;
  }
  std::erase(document.verdict, "1 of 1 points have results.");
  std::vector<Block>& blocks = document.sections.front().blocks;
  for (Block& block : blocks)
    if (auto* table = std::get_if<Table>(&block)) table->title = "All measures";
  if (std::optional<Table> learned = Learned(trial)) {
    document.main_table = learned->id;
    blocks.insert(blocks.end() - 1, std::move(*learned));
  }
  return document;
}

}  // namespace backplane
