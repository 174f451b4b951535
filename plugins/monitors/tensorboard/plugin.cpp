// Writes every metric of the trial into an event file that TensorBoard can follow while the trial runs.
#include <chrono>
#include <filesystem>
#include <optional>

#include "backplane/monitor.hpp"
#include "tf_events/tf_events.hpp"

namespace backplane::tensorboard {

double SecondsSince1970() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

double SteadySeconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class TensorBoard : public bp::MonitorPlugin<TensorBoard> {
 public:
  static constexpr bp::About kAbout{
      .id = "monitor.tensorboard", .version = "1.0.0", .summary = "Metrics as TensorBoard event files"};

  explicit TensorBoard(const bp::MonitorSetup& setup)
      : MonitorPlugin(setup), start_time_(SecondsSince1970()), since_1970_(start_time_ - SteadySeconds()) {
    const bp_host_trial_1& trial = setup.Trial();
    folder_ = trial.trial_dir, attempt_ = trial.attempt;
  }

  void OnIteration(const bp::Iteration& iteration) override {
    if (iteration.metrics.empty()) return;
    const double wall_time = since_1970_ + static_cast<double>(iteration.end_ns) * 1e-9;
    const auto step = static_cast<int64_t>(iteration.env_steps);
    if (!file_) {
      // Not earlier: the folder only exists while a trial runs, and readers need the step at which this attempt resumes.
      file_.emplace(folder_ / TfFileName(start_time_, attempt_), start_time_);
      if (attempt_ > 1) file_->SessionStart(wall_time, step);
    }
    for (const bp::IterationMetric& metric : iteration.metrics) file_->Scalar(wall_time, step, metric.name, metric.value);
  }

  void Sample(int64_t) override { Flush(); }
  void Finish(const std::string&) override { Flush(); }

 private:
  void Flush() {
    if (file_) file_->Flush();
  }

  std::filesystem::path folder_;
  uint32_t attempt_ = 1;
  double start_time_, since_1970_;  // since_1970_: time at which the steady clock was 0
  std::optional<TfEventFile> file_;
};

}  // namespace backplane::tensorboard

using backplane::tensorboard::TensorBoard;
BP_PLUGINS(TensorBoard);
