// --measures: lists the measures of a results folder's trials, for `bench` and `tune`.
#include <algorithm>
#include <cstdio>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "commands/commands.hpp"
#include "kinds/build_report.hpp"
#include "kinds/host_measures.hpp"
#include "kinds/question.hpp"
#include "record/batch_measures.hpp"
#include "results/combine.hpp"

namespace backplane {
namespace {

TrialMeasures MeasuresOf(const TrialData& trial) {
  TrialMeasures measures{trial.point, PointName(trial), trial.seed,       trial.state, trial.outcome,
                         trial.why,   trial.usable(),   trial.ended != 0, {}};
  for (const auto& [name, number] : trial.measures) measures.values[name] = number.value;
  return measures;
}

int DirectionOf(const ResultSet& set, const std::string& measure) {
  if (const HostMeasure* known = FindHostMeasure(measure); known != nullptr && known->direction != 0) return known->direction;
  if (const int given = DirectionInFile(measure, ReadTolerantly<ReportSection>(At(set.config, "report")), {set})) return given;
  for (const TrialData& trial : set.trials) {
    if (const auto found = trial.registered.find(measure); found != trial.registered.end()) return found->second.direction;
  }
  return 0;
}

PointDiagnosis Diagnosed(ResultSet set, const std::string& point, const std::vector<OptionHelp>& helps) {
  std::erase_if(set.trials, [&](const TrialData& trial) { return trial.point != point; });
  for (TrialData& trial : set.trials) trial.values.clear();
  const Diagnosis diagnosis = Diagnose(Combine({std::move(set)}), nullptr, helps);
  PointDiagnosis diagnosed{point, {}, !diagnosis.why_void.empty()};
  for (const Finding& finding : diagnosis.findings)
    diagnosed.proposals.push_back({finding.id, finding.title, finding.cause, finding.fixes});
  return diagnosed;
}

}  // namespace

int MeasuresCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<MeasuresRequest>(json);
  const ResultSet set = ReadResultSet(request.out);
  BatchMeasures answer;
  answer.direction = DirectionOf(set, request.measure);
  answer.is_of_host = FindHostMeasure(request.measure) != nullptr;
  const std::vector<OptionHelp> helps = HelpsOf({set});
  for (const TrialData& trial : set.trials) {
    answer.trials.push_back(MeasuresOf(trial));
    const bool known = std::any_of(answer.points.begin(), answer.points.end(),
                                   [&](const PointDiagnosis& one) { return one.point == trial.point; });
    if (request.diagnose && !known) answer.points.push_back(Diagnosed(set, trial.point, helps));
  }
  std::printf("%s\n", JsonText(ToJson(answer)).c_str());
  return 0;
}

}  // namespace backplane
