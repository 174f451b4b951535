// The measurements of a tuning as batches: each is an experiment file and a results folder of its own below the tuning's.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "contract/experiment.hpp"
#include "record/batch_measures.hpp"
#include "study/tune_record.hpp"
#include "study/tuning.hpp"

namespace backplane {

inline constexpr uint64_t kSeedsAsItIs = 2, kSeedsOfCheck = 5;
inline constexpr double kLongestCheckTrial_s = 120;

struct TuneSetup {
  Experiment experiment;  // to be tuned
  std::filesystem::path out;
  std::vector<std::string> plugin_path;
  std::string typed_program;
  std::string measure;        // that is tuned for
  double seconds = 8;         // that each trial of a measurement trains; more where an iteration takes long
  uint64_t seeds = 4;         // trials of a side
  uint64_t check_steps = 0;   // env steps of each trial of the check; 0: the experiment's own budget
  std::string check_measure;  // empty: eval/return where there are evaluations, else return
  bool has_gpu = false;
  bool quiet = false;  // nothing on stdout
};

// Env steps that a trial of the check has, and why as many: a few words.
struct CheckLength {
  BudgetConfig budget;
  std::string text;
};

class TuneBatches : public TuningRuns {
 public:
  // `record` outlives it: the seconds of measurements are kept there.
  TuneBatches(TuneSetup setup, TuneRecord* record) : setup_(std::move(setup)), record_(record) {}

  // Both throw std::runtime_error if a batch could not be started or its results cannot be read.
  std::optional<Measurement> Measure(size_t step, const std::vector<Change>& kept, const Change* tried) override;
  std::optional<LearningScores> Learn(const std::vector<Change>& kept) override;

  // True if the host or a plugin rejected the unchanged experiment, so that no trial ran.
  bool was_refused() const { return was_refused_; }
  // Known after the first measurement; a budget without a limit: the experiment has none that two settings could share.
  CheckLength LengthOfCheck() const;
  std::string CheckMeasure() const;
  // The experiment with the values of the changes.
  nlohmann::json With(const std::vector<Change>& kept) const;

 private:
  struct Ran {
    bool interrupted = false;
    std::string refused;                  // the file or all of its trials: a sentence; empty: they ran
    std::vector<std::string> complaints;  // of the plugins against points
    double seconds = 0;
  };
  Ran RunFile(const std::filesystem::path& file, const std::filesystem::path& out, const nlohmann::json& content,
              const std::string& comment) const;
  Ran RunMeasurement(size_t step, const std::vector<Change>& kept, const Change* tried, const std::filesystem::path& out) const;
  MeasuredSide SideOf(const BatchMeasures& set, const std::string& point, const Ran& ran, bool* busy);
  void LookAtIterations(const std::filesystem::path& out);

  TuneSetup setup_;
  TuneRecord* const record_;
  int direction_ = 1;  // of the measure that is tuned for, known after the first measurement
  bool was_refused_ = false;
  double pair_s_ = 0;                                           // duration of a measurement of two sides
  double sps_ = 0, steps_per_iteration_ = 0, iteration_s_ = 0;  // of the experiment as it is; 0: not known
};

}  // namespace backplane
