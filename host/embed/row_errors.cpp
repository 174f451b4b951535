// The option on_error: end_episode. Rows step one at a time, because the error of a step does not name its row.
#include <fmt/format.h>

#include "embed/embedded_env.hpp"

namespace backplane {

const std::string& EmbeddedEnv::ErrorOf(uint64_t row) const {
  RequireRest();
  if (row >= env_.rows())
    throw TrialFailure(BP_E_INVALID_ARG, env_.id(), fmt::format("expected a row from 0 to {}, got {}", env_.rows() - 1, row));
  static const std::string kNoError;
  return errors_.empty() ? kNoError : errors_[row];
}

// Returns the error that ends the row's episode; empty: none. Other errors are thrown.
std::string EmbeddedEnv::TryStep(uint64_t row) try {
  if (const bp_status status = env_.Step(0, row, row + 1); status != BP_OK) env_.Fail(status, "step");
  return channels_.NotFinite(row);
} catch (const TrialFailure& e) {
  const bool affects_all = e.status() == BP_E_OOM_HOST || e.status() == BP_E_OOM_DEVICE || e.status() == BP_E_CANCELLED;
  if (affects_all) throw;
  return e.what();
}

void EmbeddedEnv::StepRow(uint64_t row) {
  channels_.KeepFinal(row);
  errors_[row] = TryStep(row);
  const bool failed = !errors_[row].empty();
  if (failed) {
    channels_.RestoreKept(row);
    channels_.ClearStep(row);
  }
  const uint64_t rewards = channels_.PerRow(*channels_.reward);
  uint8_t* const truncated = channels_.truncated->at<uint8_t>(0, row);
  const EpisodeTracker::Step step{channels_.reward->at<float>(0, row * rewards),
                                  channels_.terminated->at<uint8_t>(0, row),
                                  truncated,
                                  truncated,
                                  rewards,
                                  env_.own_returns() ? env_.own_returns() + row : nullptr};
  tracker_.Add(&episodes_[row], 1, step);
  if (failed) *truncated = 1;
  tracker_.CheckFlags(row, *step.terminated, *truncated, "in a step");
  if (*step.terminated + *truncated > 0) EndEpisode(row);
}

}  // namespace backplane
