// The parts of a search's report that its text, tables and figures share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kinds/comparison_points.hpp"
#include "kinds/comparison_spec.hpp"
#include "kinds/goal_text.hpp"
#include "record/study.hpp"
#include "results/combine.hpp"

namespace backplane {

// A suggestion that was run again with seeds that the search did not see.
struct ConfirmedSetting {
  const StudyTrial* trial = nullptr;
  std::vector<double> values;      // of those seeds that came to a score
  size_t seeds = 0;                // all
  size_t over = 0;                 // of these have ended, whatever the end
  std::vector<char> reached = {};  // of steps_to: whether each of `values` reached the goal; else empty

  statistics::Arrivals arrivals() const { return ArrivalsOf(values, reached); }

  // A setting one of whose runs diverged, failed or is missing is never the best.
  bool is_eligible() const { return seeds > 0 && values.size() == seeds; }
};

struct SearchParts {
  const Study& study;
  const Combined& combined;
  MeasureSpec metric;
  std::map<std::string, std::string> names;  // of the options, by path
  std::vector<ConfirmedSetting> confirmed;   // the best mean first; those without all scores last
  bool confirms = false;                     // it is to be confirmed
  bool is_confirmed = false;                 // all of that has ended

  // By fresh seeds if they all have ended, else by the scores of the search. NULL: no trial is complete, or no setting is
  // eligible.
  const StudyTrial* Best() const;
  // NULL: it was not run again, or came to no score.
  const ConfirmedSetting* Confirmed(const StudyTrial& trial) const;
  double Lead(double a, double b) const { return study.maximize ? a - b : b - a; }  // of a

  std::string Value(double value) const;                 // "443"
  std::string Value(const ConfirmedSetting& one) const;  // "431 ± 12"
  std::string Said(const std::string& path, const nlohmann::json& value) const;
  std::string Setting(const StudyTrial& trial) const;  // "lr 0.0012, num_epochs 7"
};

// A trial that the search pruned too late to stop it is complete, with the objective at its end.
void CountTrialsAtTheirEnd(const Combined& combined, Study* study);

// Both outlive the result. Throws std::runtime_error: the objective is no measure.
SearchParts PartsOf(const Study& study, const Combined& combined);

std::string NumberName(const StudyTrial& trial);  // "number 23"

}  // namespace backplane
