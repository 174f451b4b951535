#include "kinds/ab_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/json_text.hpp"
#include "figures/panels.hpp"
#include "kinds/comparison_scores.hpp"
#include "kinds/figure_rows.hpp"
#include "kinds/report_builders.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr char kPairsFigure[] = "pairs";

// What the arms are and what is known of them; its parts outlive it.
struct Arms {
  const Combined combined;
  const std::vector<ComparedPoint> points;
  const AbScores scores;
  const ArmsJudgement judgement;
};

AbScores ScoresOf(const Combined& combined, const std::vector<ComparedPoint>& points, const ReportContext& context) {
  const Diagnosis diagnosis = Diagnose(combined, nullptr, context.option_help);
  const bool one_look = !context.compare.has_looks;
  AbScores scores = ScoresOfArms(combined, points, context.compare.terms, one_look, diagnosis);
  if (one_look) {
    if (std::string why = WhyNeverToldApart(scores); !why.empty()) scores.whys_invalid.push_back(std::move(why));
  }
  return scores;
}

Arms ArmsOf(const std::vector<ResultSet>& sets, const ReportContext& context) {
  Combined combined = Combine(sets);
  std::vector<ComparedPoint> points = PointsOf(combined);
  AbScores scores = ScoresOf(combined, points, context);
  ArmsJudgement judgement = scores.whys_invalid.empty() ? Judge(scores.arms, scores.terms) : ArmsJudgement{};
  return {std::move(combined), std::move(points), std::move(scores), std::move(judgement)};
}

// The comparison below the verdict: the metric first among its columns, the first arm its baseline.
ReportContext OfComparison(const ReportContext& context, const Arms& arms) {
  ReportContext inner = context;
  inner.report.name = context.report.name.value_or("ab");
  inner.report.timing = arms.scores.terms.speed;
  if (!arms.points.empty()) inner.report.baseline = PointName(arms.combined.trials[arms.points.front().trials.front()].data);
  if (!inner.report.columns.is_null()) return inner;
  const std::string metric = arms.scores.metric.expression.text();
  inner.report.columns = json::array({metric});
  for (const char* name : {"eval/return", "return", "SPS", "wall_s", "cpu_s", "rss_peak_mb"}) {
    if (name == std::string_view("cpu_s") && !arms.scores.terms.speed) continue;
    const bool measured =
        std::ranges::any_of(arms.combined.trials, [&](const CombinedTrial& trial) { return trial.data.Find(name) != nullptr; });
    if (measured && name != metric) inner.report.columns.push_back(name);
  }
  return inner;
}

// Each seed's scores side by side.
Figure PairsFigure(const Arms& arms) {
  Figure figure;
  const MeasureSpec& metric = arms.scores.metric;
  const std::string words = MeasureWords(metric.title);
  figure.name = kPairsFigure;
  figure.title = "Each seed on every arm";
  figure.alt = figure.title + ": grey lines join the same seed, diamonds are means with their 95 % intervals.";
  const Scoring scoring(arms.combined, arms.points);
  std::vector<std::string> names;
  for (const ComparedPoint& point : arms.points) names.push_back(point.name);
  names = FigureLabels(names);
  for (size_t i = 0; i < arms.points.size(); ++i) {
    const SeedScores scores = scoring.Scores(i, metric);
    if (scores.values.empty()) continue;
    std::vector<Single> singles;
    for (size_t k = 0; k < scores.values.size(); ++k)
      singles.push_back({scores.values[k], fmt::format("seed {}", scores.seeds[k]), ""});
    AddMean(words, names[i], IdsOf(arms.combined, arms.points[i].trials), Mean(scores.values, "seeds"), metric.digits, singles,
            {}, &figure);
  }
  const std::string axis = metric.unit.empty() ? words : fmt::format("{} [{}]", words, metric.unit);
  if (!figure.rows.empty())
    figure.panels.push_back(View(PairPanel{{words, "", axis, "arm"}, {}, names}, Palette("name", names)));
  return figure;
}

Table SeedsTable(const Arms& arms) {
  Table table{"seeds", "Each seed", {{"seed", "seed", "", ""}}, {}, {}, {}};
  const Scoring scoring(arms.combined, arms.points);
  std::map<uint64_t, std::vector<Cell>> rows;
  for (size_t i = 0; i < arms.points.size(); ++i) {
    const MeasureSpec& metric = arms.scores.metric;
    table.columns.push_back({fmt::format("arm_{}", i + 1), arms.points[i].name, metric.unit, metric.expression.text(),
                             metric.direction, metric.digits});
    const SeedScores scores = scoring.Scores(i, metric);
    for (size_t k = 0; k < scores.values.size(); ++k) {
      std::vector<Cell>& row = rows[scores.seeds[k]];
      row.resize(arms.points.size());
      row[i] = Reading(scores.values[k]);
    }
  }
  for (auto& [seed, cells] : rows) {
    std::vector<Cell> row{std::to_string(seed)};
    row.insert(row.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Leaves of a configuration by path, but for what no arm is told apart by.
void Flatten(const json& value, const std::string& path, std::map<std::string, std::string>* out) {
  if (!value.is_object()) {
    (*out)[path] = value.is_string() ? value.get<std::string>() : JsonText(value);
    return;
  }
  for (const auto& [key, inner] : value.items()) Flatten(inner, path.empty() ? key : path + "." + key, out);
}

// Options, file hashes and what plugins decided: where the arms differ. A version of a plugin is told by its file's hash.
Table DifferencesTable(const Arms& arms) {
  Table table{"differences", "Where the arms differ", {{"what", "what", "", ""}}, {}, {}, {}};
  std::map<std::string, std::vector<std::string>> rows;
  for (size_t i = 0; i < arms.points.size(); ++i) {
    table.columns.push_back({fmt::format("arm_{}", i + 1), arms.points[i].name, "", ""});
    const TrialData& trial = arms.combined.trials[arms.points[i].trials.front()].data;
    std::map<std::string, std::string> facts;
    for (const char* section : {"env", "learner", "rollout", "budget", "evaluation", "resources"})
      Flatten(trial.At(section), section, &facts);
    for (const auto& [place, hash] : trial.files) facts["file of " + place] = hash.substr(0, 16);
    for (const std::string& fact : trial.facts)
      facts["fact " + fact.substr(0, fact.rfind(' '))] = fact.substr(fact.rfind(' ') + 1);
    for (const auto& [what, value] : facts) {
      rows[what].resize(arms.points.size());
      rows[what][i] = value;
    }
  }
  for (const auto& [what, values] : rows) {
    if (std::ranges::all_of(values, [&](const std::string& value) { return value == values.front(); })) continue;
    std::vector<Cell> row{what};
    row.insert(row.end(), values.begin(), values.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table BudgetTable(const Arms& arms) {
  Table table{"budget", "What each arm used", {{"arm", "arm", "", ""}, {"runs", "runs", "", ""}}, {}, {}, {}};
  const std::pair<const char*, const char*> used[] = {
      {"env_steps", "env steps"}, {"wall_s", "seconds"}, {"attempt_s", "with start and stop"}};
  for (const auto& [name, title] : used)
    table.columns.push_back({name, title, name == std::string("env_steps") ? "" : "s", "all runs together"});
  for (const ComparedPoint& point : arms.points) {
    std::vector<Cell> row{point.name, Reading(static_cast<double>(point.trials.size()))};
    for (const auto& [name, title] : used) {
      double sum = 0;
      for (const size_t t : point.trials) {
        if (const Number* number = arms.combined.trials[t].data.Find(name)) sum += number->value;
      }
      row.push_back(Reading(sum));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// How many seeds are enough is the comparison's own business, and their spread its verdict's.
void LeaveOutSeeds(bool speed, Document* document) {
  for (Section& section : document->sections) {
    for (Block& block : section.blocks) {
      auto* list = std::get_if<FindingList>(&block);
      if (!list) continue;
      std::vector<Finding>& findings = list->diagnosis.findings;
      if (!speed) std::erase_if(findings, [](const Finding& finding) { return finding.id == "noisy_measurement"; });
      for (Finding& finding : findings)
        std::erase_if(finding.fixes, [](const Fix& fix) { return fix.path.starts_with("sweep."); });
    }
  }
}

}  // namespace

Document AbReport(const std::vector<ResultSet>& sets, const ReportContext& context) {
  const Arms arms = ArmsOf(sets, context);
  Document document = ComparisonReport(sets, OfComparison(context, arms));
  document.kind = "ab";
  document.title = fmt::format("A/B: {}", fmt::join(arms.combined.experiments, ", "));
  document.verdict = VerdictOfArms(arms.scores, arms.judgement);
  document.is_void = false;  // disturbed blocks were set aside
  LeaveOutSeeds(arms.scores.terms.speed, &document);
  std::vector<Section> first;
  if (arms.judgement.looks > 0) first.push_back({"evidence", "Evidence", {EvidenceTable(arms.scores, arms.judgement)}});
  if (Figure pairs = PairsFigure(arms); !pairs.panels.empty()) {
    if (!first.empty()) first.front().blocks.insert(first.front().blocks.begin(), FigureUse{kPairsFigure});
    document.figures.insert(document.figures.begin(), std::move(pairs));
  }
  document.sections.insert(document.sections.begin(), first.begin(), first.end());
  Section details{"arms", "The arms", {SeedsTable(arms), BudgetTable(arms)}};
  if (Table differences = DifferencesTable(arms); !differences.rows.empty())
    details.blocks.insert(details.blocks.begin(), std::move(differences));
  const auto place = std::ranges::find(document.sections, std::string("results"), &Section::id);
  document.sections.insert(place == document.sections.end() ? place : place + 1, std::move(details));
  return document;
}

CompareAnswer JudgeResults(const std::vector<ResultSet>& sets, const ReportContext& context) {
  const Arms arms = ArmsOf(sets, context);
  CompareAnswer answer;
  const auto is_invalid = [](const PairJudgement& pair) { return pair.decided && pair.answer == Answer::kInvalid; };
  answer.invalid = !arms.scores.whys_invalid.empty() || std::ranges::any_of(arms.judgement.pairs, is_invalid);
  answer.decided = arms.judgement.decided;
  answer.looks = arms.judgement.looks;
  answer.sentence = StandingOfArms(arms.scores, arms.judgement);
  return answer;
}

}  // namespace backplane
