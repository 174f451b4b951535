// Searches made by hand, with the trials of their suggestions.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "record/study.hpp"
#include "result_sets.hpp"

namespace backplane::test_support {

class MadeSearch {
 public:
  MadeSearch() {
    study_.name = "walk";
    study_.method = "tpe";
    study_.metric = "return";
    study_.space = ReadSearchSpace(
        {{"learner.options.lr", {{"log_uniform", {1e-5, 1e-1}}}}, {"learner.plugin", {{"choice", {"ppo", "ars"}}}}});
  }

  // Complete, of one seed.
  MadeSearch& Complete(double lr, const char* learner, double value) {
    StudyTrial& trial = Add(lr, learner, StudyState::kComplete);
    trial.value = value;
    trial.ended = trial.started + 10;
    trial.steps = {{1, value / 2}, {2, value}};
    return *this;
  }
  MadeSearch& Ended(double lr, StudyState state, std::vector<std::pair<uint64_t, double>> steps = {}) {
    StudyTrial& trial = Add(lr, "ppo", state);
    trial.steps = std::move(steps);
    if (state == StudyState::kPruned || state == StudyState::kFailed) trial.ended = trial.started + 4;
    return *this;
  }
  // A pruned suggestion whose trial was not stopped in time.
  MadeSearch& CameToEnd(uint64_t number, double value) {
    study_.trials.at(number).came_to_end = true;
    for (TrialData& data : trials_)
      if (data.trial_id == study_.trials.at(number).trials.front()) data.measures["return"] = Single(value);
    return *this;
  }
  // The suggestion's fresh seeds; NaN: the seed is still running.
  MadeSearch& Confirm(uint64_t number, const std::vector<double>& values) {
    StudyTrial& trial = study_.trials.at(number);
    for (size_t i = 0; i < values.size(); ++i) {
      TrialData& data = AddTrial(trial, 1000 + i);
      data.confirms = true;
      data.measures["return"] = Single(values[i]);
      if (std::isnan(values[i])) data.state = TrialState::kRunning, data.measures.clear();
      trial.confirming.push_back(data.trial_id);
    }
    return *this;
  }

  // Its fresh seeds by their env steps until eval/return is 475. A negative number never reached it within so many.
  MadeSearch& ConfirmSteps(uint64_t number, const std::vector<double>& steps) {
    Confirm(number, std::vector<double>(steps.size()));
    const size_t first = trials_.size() - steps.size();
    for (size_t i = 0; i < steps.size(); ++i) {
      trials_[first + i].measures["steps_to(eval/return, 475)"] = Single(std::abs(steps[i]));
      trials_[first + i].measures["reached(eval/return, 475)"] = Single(steps[i] > 0 ? 1 : 0);
    }
    return *this;
  }

  ResultSet Results() const {
    ResultSet set = Set(trials_);
    set.study = study_;
    return set;
  }
  Study& study() { return study_; }

 private:
  StudyTrial& Add(double lr, const char* learner, StudyState state) {
    StudyTrial trial;
    trial.number = study_.trials.size();
    trial.point_id = "p" + std::to_string(trial.number);
    trial.params = {{"learner.options.lr", lr}, {"learner.plugin", learner}};
    trial.state = state;
    trial.started = 1000 + 20 * static_cast<double>(trial.number);
    study_.trials.push_back(trial);
    TrialData& data = AddTrial(study_.trials.back(), 0);
    data.config["learner"]["options"]["lr"] = lr;
    data.config["learner"]["plugin"] = learner;
    if (state == StudyState::kFailed) data.state = TrialState::kFailed;
    study_.trials.back().trials = {data.trial_id};
    study_.trials.back().seeds = {0};
    return study_.trials.back();
  }
  TrialData& AddTrial(const StudyTrial& of, uint64_t seed) {
    trials_.push_back(Trial(1, 1, 1000, seed));
    TrialData& data = trials_.back();
    data.point_id = of.point_id;
    data.point = of.point_id;
    data.trial_id = of.point_id + "-" + std::to_string(seed);
    return data;
  }

  Study study_;
  std::vector<TrialData> trials_;
};

}  // namespace backplane::test_support
