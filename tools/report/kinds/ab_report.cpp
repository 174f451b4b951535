#include "kinds/ab_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/json_text.hpp"
#include "figures/panels.hpp"
#include "kinds/ab_tasks.hpp"
#include "kinds/ab_text.hpp"
#include "kinds/comparison_scores.hpp"
#include "kinds/figure_rows.hpp"
#include "kinds/host_measures.hpp"
#include "kinds/report_builders.hpp"
#include "results/reduction.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr char kPairsFigure[] = "pairs";

// The arms and their judgement on each task. Must outlive the parts made from it.
struct Arms {
  const Combined combined;
  const std::vector<ComparedPoint> points;  // of all tasks
  const std::vector<JudgedTask> tasks;

  const AbScores& scores() const { return tasks.front().scores; }  // metric and terms are the same for all tasks
};

AbScores ScoresOf(const Combined& combined, const std::vector<ComparedPoint>& points, const ReportContext& context,
                  const Diagnosis& diagnosis) {
  const bool one_look = !context.compare.has_looks;
  AbScores scores = ScoresOfArms(combined, points, context.compare.terms, one_look, diagnosis);
  if (one_look) {
    if (std::string why = WhyNeverToldApart(scores); !why.empty()) scores.whys_invalid.push_back(std::move(why));
  }
  return scores;
}

// The order of the command line: Combine sorts folders by their content, and a margin is a share of the first arm's mean.
void OrderAsGiven(const std::vector<ResultSet>& sets, const Combined& combined, std::vector<ComparedPoint>* points) {
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < sets.size(); ++i)
    for (const TrialData& trial : sets[i].trials) first.try_emplace(trial.trial_id, i);
  std::ranges::stable_sort(
      *points, {}, [&](const ComparedPoint& point) { return first.at(combined.trials[point.trials.front()].data.trial_id); });
}

Arms ArmsOf(const std::vector<ResultSet>& sets, const ReportContext& context) {
  Combined combined = Combine(sets);
  if (const auto measure = MeasureOfText(MetricOf(context.compare.terms, combined)))
    AddReductions(measure->expression.paths(), &combined);
  std::vector<ComparedPoint> points = PointsOf(combined);
  OrderAsGiven(sets, combined, &points);
  const Diagnosis diagnosis = Diagnose(combined, nullptr, context.option_help);
  std::vector<JudgedTask> tasks;
  std::vector<std::vector<ArmScores>> arms;
  std::vector<JudgeTerms> terms;
  bool valid = true;
  for (PointsOfTask& task : TasksOf(combined, points, context.compare.terms)) {
    AbScores scores = ScoresOf(combined, task.points, context, diagnosis);
    arms.push_back(scores.arms);
    terms.push_back(scores.terms);
    valid = valid && scores.whys_invalid.empty();
    tasks.push_back({std::move(task.task), std::move(task.points), std::move(scores), {}});
  }
  if (valid) {
    std::vector<ArmsJudgement> judged = JudgeTasks(arms, terms);
    for (size_t i = 0; i < tasks.size(); ++i) tasks[i].judgement = std::move(judged[i]);
  }
  return {std::move(combined), std::move(points), std::move(tasks)};
}

// The comparison below the verdict: the metric first among its columns, the first arm its baseline.
ReportContext OfComparison(const ReportContext& context, const Arms& arms) {
  ReportContext inner = context;
  inner.report.name = context.report.name.value_or("ab");
  inner.report.timing = arms.scores().terms.speed;
  // Scores of other tasks are nothing to hold an arm against.
  if (!arms.points.empty() && arms.tasks.size() == 1)
    inner.report.baseline = PointName(arms.combined.trials[arms.points.front().trials.front()].data);
  if (!inner.report.columns.is_null()) return inner;
  const std::string metric = arms.scores().metric.expression.text();
  inner.report.columns = json::array({metric});
  for (const char* name : {"eval/return", "return", "SPS", "wall_s", "cpu_s", "rss_peak_mb"}) {
    if (name == std::string_view("cpu_s") && !arms.scores().terms.speed) continue;
    const bool measured =
        std::ranges::any_of(arms.combined.trials, [&](const CombinedTrial& trial) { return trial.data.Find(name) != nullptr; });
    if (measured && name != metric) inner.report.columns.push_back(name);
  }
  return inner;
}

// Each seed's scores side by side, a panel for each task.
Figure PairsFigure(const Arms& arms) {
  Figure figure;
  const MeasureSpec& metric = arms.scores().metric;
  const std::string words = MeasureWords(metric.title);
  figure.name = kPairsFigure;
  figure.title = "Each seed on every arm";
  figure.alt = figure.title + ": grey lines join the same seed, diamonds are means with their 95 % intervals.";
  const std::string axis = metric.unit.empty() ? words : fmt::format("{} [{}]", words, metric.unit);
  for (const JudgedTask& task : arms.tasks) {
    const std::string panel = task.task.name.empty() ? words : task.task.name;
    const Scoring scoring(arms.combined, task.points);
    std::vector<std::string> names;
    for (const ComparedPoint& point : task.points) names.push_back(point.name);
    names = FigureLabels(names);
    const size_t before = figure.rows.size();
    for (size_t i = 0; i < task.points.size(); ++i) {
      const SeedScores scores = scoring.Scores(i, metric);
      if (scores.values.empty()) continue;
      std::vector<Single> singles;
      for (size_t k = 0; k < scores.values.size(); ++k)
        singles.push_back({scores.values[k], fmt::format("seed {}", scores.seeds[k]), ""});
      const std::vector<size_t>& trials = task.points[i].trials;
      const Number mean = InRange(arms.combined, trials, metric.expression.text(), Mean(scores.values, "seeds"));
      AddMean(panel, names[i], IdsOf(arms.combined, trials), mean, metric.digits, singles, json::object(), &figure);
    }
    if (figure.rows.size() > before)
      figure.panels.push_back(View(PairPanel{{panel, "", axis, "arm"}, {}, names}, Palette("name", names)));
  }
  figure.columns = std::min<size_t>(2, std::max<size_t>(1, figure.panels.size()));
  return figure;
}

Table SeedsTable(const Arms& arms) {
  Table table{"seeds", "Each seed", {{"seed", "seed", "", ""}}, {}, {}, {}};
  const MeasureSpec& metric = arms.scores().metric;
  std::map<uint64_t, std::vector<Cell>> rows;
  size_t column = 0;
  for (const JudgedTask& task : arms.tasks) {
    const Scoring scoring(arms.combined, task.points);
    for (size_t i = 0; i < task.points.size(); ++i, ++column) {
      const std::string& arm = task.points[i].name;
      table.columns.push_back({fmt::format("arm_{}", column + 1),
                               task.task.name.empty() ? arm : NameOnTask(arm, task.task.name), metric.unit,
                               metric.expression.text(), metric.direction, metric.digits});
      const SeedScores scores = scoring.Scores(i, metric);
      for (size_t k = 0; k < scores.values.size(); ++k) {
        std::vector<Cell>& row = rows[scores.seeds[k]];
        row.resize(arms.points.size());
        row[column] = Reading(scores.values[k]);
      }
    }
  }
  for (auto& [seed, cells] : rows) {
    std::vector<Cell> row{std::to_string(seed)};
    row.insert(row.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Collects a configuration's leaves by path, except paths that never distinguish arms.
void Flatten(const json& value, const std::string& path, std::map<std::string, std::string>* out) {
  if (!value.is_object()) {
    (*out)[path] = value.is_string() ? value.get<std::string>() : JsonText(value);
    return;
  }
  for (const auto& [key, inner] : value.items()) Flatten(inner, path.empty() ? key : path + "." + key, out);
}

// Differences between the arms on the first task: options, file hashes and choices of plugins. A file's hash identifies the
// version of a plugin.
Table DifferencesTable(const Arms& arms) {
  const std::vector<ComparedPoint>& points = arms.tasks.front().points;
  Table table{"differences", "Differences between the arms", {{"what", "what", "", ""}}, {}, {}, {}};
  std::map<std::string, std::vector<std::string>> rows;
  for (size_t i = 0; i < points.size(); ++i) {
    table.columns.push_back({fmt::format("arm_{}", i + 1), points[i].name, "", ""});
    const TrialData& trial = arms.combined.trials[points[i].trials.front()].data;
    std::map<std::string, std::string> facts;
    for (const char* section : {"env", "learner", "rollout", "budget", "evaluation", "resources"})
      Flatten(trial.At(section), section, &facts);
    for (const auto& [place, hash] : trial.files) facts["file of " + place] = hash.substr(0, 16);
    for (const std::string& fact : trial.facts)
      facts["fact " + fact.substr(0, fact.rfind(' '))] = fact.substr(fact.rfind(' ') + 1);
    for (const auto& [what, value] : facts) {
      rows[what].resize(points.size());
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
  Table table{"budget", "Budget used per arm", {{"arm", "arm", "", ""}, {"runs", "runs", "", ""}}, {}, {}, {}};
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

// Removes findings about the number and spread of seeds: the comparison sets one, its verdict covers the other.
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

// Adds the evidence for the verdict. With several tasks, their joint evidence comes first.
void AddEvidence(const Arms& arms, std::vector<Section>* sections, Document* document) {
  if (std::ranges::any_of(arms.tasks, [](const JudgedTask& task) { return task.judgement.looks == 0; })) return;
  if (arms.tasks.size() > 1) {
    const OverTasks together = Together(arms.tasks);
    Section section{"tasks", "Over all tasks", {}};
    for (Table& table : TablesOfTasks(together)) section.blocks.emplace_back(std::move(table));
    Figure profile = ProfileFigure(together);
    section.blocks.emplace_back(FigureUse{profile.name});
    document->figures.insert(document->figures.begin(), std::move(profile));
    sections->push_back(std::move(section));
  }
  Table evidence = EvidenceTable(arms.scores(), arms.tasks.front().judgement, arms.tasks.front().task.name);
  for (size_t i = 1; i < arms.tasks.size(); ++i) {
    const JudgedTask& task = arms.tasks[i];
    const Table of_task = EvidenceTable(task.scores, task.judgement, task.task.name);
    evidence.rows.insert(evidence.rows.end(), of_task.rows.begin(), of_task.rows.end());
  }
  sections->push_back({"evidence", "Evidence", {std::move(evidence)}});
}

}  // namespace

Document AbReport(const std::vector<ResultSet>& sets, const ReportContext& context) {
  const Arms arms = ArmsOf(sets, context);
  Document document = ComparisonReport(sets, OfComparison(context, arms));
  document.kind = "ab";
  document.title = fmt::format("A/B: {}", fmt::join(arms.combined.experiments, ", "));
  document.verdict = VerdictOfTasks(arms.tasks);
  document.is_void = false;  // disturbed blocks were set aside
  LeaveOutSeeds(arms.scores().terms.speed, &document);
  std::vector<Section> first;
  AddEvidence(arms, &first, &document);
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
  const auto is_invalid = [](const PairJudgement& pair) {
    return pair.decided && pair.answer == Answer::kInvalid && pair.why_missing.empty();
  };
  // Scores without a spread on one task leave the others their verdicts.
  answer.invalid = std::ranges::all_of(
      arms.tasks, [&](const JudgedTask& task) { return std::ranges::any_of(task.judgement.pairs, is_invalid); });
  answer.decided = true;
  for (const JudgedTask& task : arms.tasks) {
    answer.invalid = answer.invalid || !task.scores.whys_invalid.empty();
    answer.decided = answer.decided && task.judgement.decided;
    answer.looks = std::max<uint64_t>(answer.looks, task.judgement.looks);
  }
  answer.sentence = StandingOfTasks(arms.tasks);
  return answer;
}

}  // namespace backplane
