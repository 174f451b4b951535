// The measurements of a tuning as batches, each with an experiment file and a results folder below the tuning's.
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
  std::string measure;        // to be improved
  double seconds = 8;         // training time per trial; more if an iteration takes long
  uint64_t seeds = 4;         // trials per side
  uint64_t check_steps = 0;   // env steps per trial of the check; 0: the experiment's own budget
  std::string check_measure;  // empty: eval/return with evaluations, else return
  bool has_gpu = false;
  bool quiet = false;  // nothing on stdout
};

// Env steps of a trial of the check, with a short reason.
struct CheckLength {
  BudgetConfig budget;
  std::string text;
};

class TuneBatches : public TuningRuns {
 public:
  // `record` must outlive it: it stores the seconds of measurements.
  TuneBatches(TuneSetup setup, TuneRecord* record) : setup_(std::move(setup)), record_(record) {}

  // Both throw std::runtime_error if a batch cannot be started or its results cannot be read.
  std::optional<Measurement> Measure(size_t step, const std::vector<Change>& kept, const Change* tried) override;
  std::optional<LearningScores> Learn(const std::vector<Change>& kept) override;

  // True if the host or a plugin rejected the unchanged experiment, so that no trial ran.
  bool was_refused() const { return was_refused_; }
  // Known after the first measurement. A budget without a limit: no budget fits two settings.
  CheckLength LengthOfCheck() const;
  std::string CheckMeasure() const;
  // The experiment with the changes applied.
  nlohmann::json With(const std::vector<Change>& kept) const;

 private:
  struct Ran {
    bool interrupted = false;
    std::string refused;                  // reason, if the file or all of its trials were rejected; empty: they ran
    std::vector<std::string> complaints;  // of plugins about points
    double seconds = 0;
  };
  Ran RunFile(const std::filesystem::path& file, const std::filesystem::path& out, const nlohmann::json& content,
              const std::string& comment) const;
  Ran RunMeasurement(size_t step, const std::vector<Change>& kept, const Change* tried, const std::filesystem::path& out) const;
  MeasuredSide SideOf(const BatchMeasures& set, const std::string& point, const Ran& ran, bool* busy);
  void LookAtIterations(const std::filesystem::path& out);

  TuneSetup setup_;
  TuneRecord* const record_;
  int direction_ = 1;  // of the tuned measure, known after the first measurement
  bool was_refused_ = false;
  double pair_s_ = 0;                                           // duration of a measurement of two sides
  double sps_ = 0, steps_per_iteration_ = 0, iteration_s_ = 0;  // of the unchanged experiment; 0: unknown
};

}  // namespace backplane
