#include "results/result_set.hpp"

#include <stdexcept>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/json_path.hpp"
#include "record/batch_record.hpp"
#include "record/budget_cut.hpp"
#include "record/not_results.hpp"
#include "record/plan_file.hpp"
#include "results/trial_measures.hpp"
#include "text/short_names.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

using nlohmann::json;

RunInfo ReadRun(const std::filesystem::path& file) {
  const json run = json::parse(ReadFile(file).value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!run.is_object()) throw std::runtime_error(file.string() + ": expected a JSON object, got something else");
  for (const char* key : {"schema", "schema_version"}) {
    if (run.contains(key) && run[key] != kTrialSchema) {
      throw std::runtime_error(file.string() + ": " + key + ": expected " + std::to_string(kTrialSchema) + ", got " +
                               run[key].dump());
    }
  }
  return ReadTolerantly<RunInfo>(run);
}

void CheckIsResultsFolder(const std::filesystem::path& out) {
  for (const char* name : {kPlanName, kConfigName, kRunName}) {
    if (!std::filesystem::exists(out / name)) {
      throw std::runtime_error(NotResults(out, name));
    }
  }
}

void AddRecord(const TrialRecord& record, TrialData* trial) {
  trial->state = record.state;
  trial->outcome = record.outcome;
  trial->why = record.why;
  for (const AttemptRecord& attempt : record.attempts) {
    trial->ended = attempt.ended.value_or(trial->ended);
    trial->cores = attempt.start.cores;
    trial->gpus = attempt.start.gpus.size();
  }
}

// The plan's budget: the last attempt may have had a larger one.
void SetBudget(const PlanLine& line, json* config) {
  if (!line.budget) return;
  json& budget = (*config)["budget"];
  if (!budget.is_object()) budget = json::object();
  const auto number = [](const std::optional<uint64_t>& limit) { return limit ? json(*limit) : json(); };
  budget["iterations"] = number(line.budget->iterations);
  budget["env_steps"] = number(line.budget->env_steps);
  budget["episodes"] = number(line.budget->episodes);
  budget["epochs"] = number(line.budget->epochs);
  budget["wall_time"] = line.budget->wall_time_s ? json(FormatDuration(*line.budget->wall_time_s)) : json();
  config->erase("schedule_budget");
  if (line.schedule_budget) (*config)["schedule_budget"] = ToJson(*line.schedule_budget);
}

// An unstarted trial has no trial.json; a damaged file is treated alike.
json ConfigOf(const std::filesystem::path& trial_json, const PlanLine& line, const BatchConfig& batch) {
  const json trial = json::parse(ReadFile(trial_json).value_or(""), nullptr, /*allow_exceptions=*/false);
  const bool has_config = At(trial, "config").is_object();
  json config = has_config ? At(trial, "config") : batch.OfPoint(line);
  if (!has_config) config["seed"] = line.seed;
  SetBudget(line, &config);
  return config;
}

// "lr=2 num_env_runners=4"
std::string ValuesText(const std::vector<std::pair<std::string, json>>& values) {
  std::vector<std::string> paths;
  for (const auto& [path, value] : values) paths.push_back(path);
  const std::vector<std::string> names = ShortNames(paths, {});
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    const json& value = values[i].second;
    text += (i > 0 ? " " : "") + names[i] + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace

const Number* TrialData::Find(const std::string& measure) const {
  const auto found = measures.find(measure);
  return found != measures.end() ? &found->second : nullptr;
}

json TrialData::At(const std::string& path) const { return AtPath(config, path); }

std::string PointName(const TrialData& trial) {
  if (!trial.label.empty()) return trial.label;
  if (!trial.point.empty()) return trial.point;
  const json experiment = trial.At("experiment");
  return experiment.is_string() ? experiment.get<std::string>() : trial.trial_id;
}

TrialData ReadTrial(const ResultsFolder& folder, const PlanLine& line, const BatchConfig& batch, const BatchRecord& record,
                    CutHow how) {
  TrialData trial;
  trial.out = folder.out;
  trial.trial_id = line.trial_id;
  trial.point_id = line.point_id;
  trial.point = line.name;
  trial.seed = line.seed;
  trial.confirms = line.confirms;
  trial.reason = line.why;
  trial.values = line.values;
  trial.files = line.files;
  trial.config = ConfigOf(folder.trial(line.trial_id).trial_json(), line, batch);
  if (const TrialRecord* known = record.Find(line.trial_id)) {
    const WithinBudget within = CutAtBudget(folder, *known, line.budget, how);
    if (within.cut && within.cut->longer) trial.cut_at = within.cut->iteration();
    AddRecord(within.record, &trial);
    ReadTrialMeasures(folder, within, &trial);
  }
  return trial;
}

ResultSet ReadHeadOfSet(const std::filesystem::path& out) {
  CheckIsResultsFolder(out);
  const ResultsFolder folder{out};
  const BatchConfig batch(folder.config());
  ResultSet set;
  set.out = out;
  set.experiment = Text(At(batch.experiment(), "experiment"));
  set.config = batch.experiment();
  set.config_text = ReadFile(folder.config()).value_or("");
  set.run = ReadRun(folder.run());
  return set;
}

ResultSet ReadResultSet(const std::filesystem::path& out) {
  ResultSet set = ReadHeadOfSet(out);
  const ResultsFolder folder{out};
  const BatchConfig batch(folder.config());
  const BatchRecord record = ReadBatchRecord(folder.events());
  set.why_ended = !record.paused.empty()    ? "paused: " + record.paused
                  : record.sessions.empty() ? ""
                                            : record.sessions.back().why_ended;
  const std::vector<PlanLine> plan = ReadPlanFile(folder.plan());
  set.study = StudyOfSearch(plan, record);
  const CutHow how = HowToCut(folder, plan, record);
  for (const PlanLine& line : plan) {
    if (line.dropped) {
      set.dropped.emplace_back(ValuesText(line.values), line.why.empty() ? line.rule : line.why);
    } else {
      set.trials.push_back(ReadTrial(folder, line, batch, record, how));
    }
  }
  return set;
}

}  // namespace backplane
