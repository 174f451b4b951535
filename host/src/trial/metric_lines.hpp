// The lines of metrics.jsonl. That of an iteration is made when the iteration ends and written when its evaluation has run,
// which a stop may leave to the next attempt.
#pragma once

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "trial/loop_parts.hpp"
#include "trial/open_iteration.hpp"
#include "trial/recorder.hpp"
#include "trial/trial_count.hpp"

namespace backplane {

class MetricLines {
 public:
  explicit MetricLines(const LoopParts& parts);

  // Of an iteration that has ended and is counted.
  void Make(const TrialCount& count, const OpenIteration& iteration, const EpisodeWindow& window);
  // One is made and not written; else it is null.
  bool pending() const { return !unwritten_.is_null(); }
  const nlohmann::json& unwritten() const { return unwritten_; }
  void AddEvaluation(const nlohmann::json& evaluation) { unwritten_["eval"] = evaluation; }
  // What monitors measured of the machine since the last call. What an earlier attempt measured of the iteration stays.
  void TakeMachine();
  // Writes what is pending, at this second of the trial.
  nlohmann::json Write(double trial_s);
  // Another line than that of an iteration.
  void Append(const nlohmann::json& line) { file_.Append(line); }
  // They are on the disk afterwards. Throws std::runtime_error.
  void Sync() { file_.Sync(); }

  // All lines of the trial so far, attempt by attempt.
  MetricsRecord SoFar() const;
  void GoOnFrom(std::vector<MetricsPart> before, nlohmann::json unwritten) {
    before_ = std::move(before);
    unwritten_ = std::move(unwritten);
  }

 private:
  MetricsHub& metrics_;
  MetricsFile file_;
  std::vector<MetricsPart> before_;  // of the attempts that this one goes on from
  nlohmann::json unwritten_;
};

}  // namespace backplane
