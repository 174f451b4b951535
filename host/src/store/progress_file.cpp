#include "store/progress_file.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "store/batch_record.hpp"

namespace backplane {
namespace {

using nlohmann::ordered_json;

constexpr int kSchema = 1;

ordered_json OrNull(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(nullptr); }

std::string TrialText(const TrialProgress& trial) {
  return JsonText(ordered_json{{"id", trial.id},
                               {"name", trial.name},
                               {"seed", trial.seed},
                               {"state", trial.state},
                               {"attempt", trial.attempt},
                               {"progress", OrNull(trial.progress)},
                               {"sps", OrNull(trial.sps)},
                               {"return", OrNull(trial.episode_return)},
                               {"why", trial.why}});
}

ordered_json Head(const BatchProgress& batch) {
  std::map<std::string, size_t> counts;
  size_t done = 0;
  for (const TrialProgress& trial : batch.trials) {
    ++counts[trial.state];
    done += IsFinal(trial.state);
  }
  return {{"schema", kSchema},
          {"experiment", batch.experiment},
          {"started", batch.started},
          {"updated", batch.updated},
          {"state", batch.state},
          {"counts", counts},
          {"done", done},
          {"total", batch.trials.size()},
          {"elapsed_s", batch.elapsed_s},
          {"eta_s", OrNull(batch.eta_s)}};
}

}  // namespace

bool IsFinal(const std::string& state) {
  return IsFinishedState(state) || state == "INFEASIBLE" || state == "FAILED" || state == "SKIPPED";
}

std::string ProgressText::Of(const BatchProgress& batch) {
  std::string text = JsonText(Head(batch));
  text.pop_back();  // the bracket: the trials' texts follow within
  text += ",\"trials\":[";
  trials_.resize(batch.trials.size());
  for (size_t i = 0; i < batch.trials.size(); ++i) {
    auto& [kept, kept_text] = trials_[i];
    if (kept_text.empty() || kept != batch.trials[i]) {
      kept = batch.trials[i];
      kept_text = TrialText(kept);
    }
    text += i == 0 ? "\n" : ",\n";
    text += kept_text;
  }
  return text + "]}\n";
}

void ProgressFile::Write(const BatchProgress& batch) {
  if (file_.has_parent_path()) std::filesystem::create_directories(file_.parent_path());
  ReplaceFile(file_, text_.Of(batch));
}

}  // namespace backplane
