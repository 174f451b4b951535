#include "live/live_batch.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "kinds/question.hpp"
#include "record/plan_file.hpp"
#include "results/reduction.hpp"

namespace backplane {
namespace {

// Limits of the memory for any batch; the files keep all data.
constexpr size_t kMostTrials = 400, kMostWithCurves = 64;
// Rules (rules/) only read these of possibly dozens of curves.
constexpr const char* kCurvesOfRules[] = {"return", "SPS"};

bool IsRuled(const std::string& curve) {
  return curve.starts_with("train/") ||
         std::find(std::begin(kCurvesOfRules), std::end(kCurvesOfRules), curve) != std::end(kCurvesOfRules);
}

std::set<std::string> ReducedCurves(const ResultSet& set) {
  std::vector<ReportError> reported_before;
  const ComparisonSpec spec = ReadComparisonSpec(ReadTolerantly<ReportSection>(At(set.config, "report")), &reported_before);
  std::vector<NamedAt> names = NamesIn(spec);
  std::erase_if(names, [](const NamedAt& one) { return one.path.empty(); });  // a default column
  if (const auto measure = NamedMeasure({set}, spec))
    for (const std::string& name : measure->expression.paths()) names.push_back({name, ""});
  std::set<std::string> curves;
  for (const NamedAt& one : names)
    if (const auto reduced = SplitReducedName(one.name)) curves.insert(reduced->curve);
  return curves;
}

}  // namespace

LiveBatch::LiveBatch(const std::filesystem::path& out)
    : folder_{out},
      head_(ReadHeadOfSet(out)),
      reduced_(ReducedCurves(head_)),
      config_(folder_.config()),
      progress_file_(folder_.progress(Text(At(At(head_.config, "output"), "progress_file")))),
      events_(folder_.events()) {
  ReadPlan();
}

// The plan of a search grows.
void LiveBatch::ReadPlan() {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(folder_.plan(), error);
  if (error || bytes == plan_bytes_) return;
  plan_ = ReadPlanFile(folder_.plan());
  plan_bytes_ = bytes;
  lines_.clear();
  for (size_t i = 0; i < plan_.size(); ++i)
    if (!plan_[i].dropped) lines_.emplace(plan_[i].trial_id, i);
}

LiveTrial* LiveBatch::Find(const std::string& trial_id) {
  const auto found = live_.find(trial_id);
  return found != live_.end() ? &found->second : nullptr;
}

bool LiveBatch::HasAllEnded() const {
  return judged_.size() == ended_.size() && (reduced_.empty() || ended_.size() <= kMostWithCurves);
}

bool LiveBatch::ReadProgress() {
  const nlohmann::json json = nlohmann::json::parse(ReadFile(progress_file_).value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!At(json, "trials").is_array()) return !trials_.empty();
  progress_ = ReadTolerantly<ProgressHead>(json);
  trials_.clear();
  for (const nlohmann::json& trial : json["trials"]) trials_.push_back(ReadTolerantly<TrialProgress>(trial));
  return true;
}

bool LiveBatch::Read(size_t most_bytes) {
  events_.Read();
  try {
    ReadPlan();
  } catch (const std::runtime_error&) {  // the last line was incomplete: read it next time
  }
  if (!ReadProgress()) return false;
  size_t left = most_bytes / 2;  // running trials may write faster than we read, which must not starve the others
  const auto take = [&](size_t bytes) { left -= std::min(left, bytes); };
  for (const TrialProgress& trial : trials_)
    if (left > 0 && trial.state == TrialState::kRunning) take(ReadTrial(trial, left));
  left += most_bytes - most_bytes / 2;
  for (const TrialProgress& trial : trials_) {
    if (left == 0) break;
    if (trial.attempt > 0 && trial.state != TrialState::kRunning) take(ReadTrial(trial, left));
    if (IsFinal(trial.state)) take(ReadEnded(trial));
  }
  Forget();
  return true;
}

size_t LiveBatch::ReadTrial(const TrialProgress& trial, size_t most_bytes) {
  const auto whole = whole_.find(trial.id);
  if (trial.attempt == 0 || (whole != whole_.end() && whole->second == trial.attempt)) return 0;
  const auto [at, is_new] = live_.try_emplace(trial.id, folder_.trial(trial.id));
  if (is_new) order_.push_back(trial.id);
  const size_t bytes = at->second.Read(trial.attempt, most_bytes);
  const bool may_grow =
      trial.state == TrialState::kRunning || trial.state == TrialState::kQueued || trial.state == TrialState::kLost;
  if (bytes == 0 && !may_grow) whole_[trial.id] = trial.attempt;
  return bytes;
}

size_t LiveBatch::ReadEnded(const TrialProgress& trial) {
  unsigned& judged = judged_[trial.id];
  const auto line = lines_.find(trial.id);
  if (judged == trial.attempt || line == lines_.end() || record().Find(trial.id) == nullptr) return 0;
  judged = trial.attempt;
  std::erase_if(ended_, [&](const TrialData& known) { return known.trial_id == trial.id; });
  ended_.push_back(backplane::ReadTrial(folder_, plan_[line->second], config_, record()));
  std::erase_if(ended_.back().curves,
                [this](const auto& curve) { return !IsRuled(curve.first) && !reduced_.contains(curve.first); });
  if (ended_.size() > kMostWithCurves) ended_[ended_.size() - 1 - kMostWithCurves].curves.clear();
  if (ended_.size() > kMostTrials) ended_.pop_front();
  ++changes_;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(folder_.attempt(trial.id, trial.attempt).metrics(), error);
  return error ? 1 : static_cast<size_t>(bytes) + 1;
}

void LiveBatch::Forget() {
  for (size_t looked = order_.size(); live_.size() > kMostTrials && looked > 0; --looked) {
    const std::string id = order_.front();
    order_.pop_front();
    if (whole_.contains(id)) {
      live_.erase(id);
    } else {
      order_.push_back(id);
    }
  }
}

}  // namespace backplane
