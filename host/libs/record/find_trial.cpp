#include "record/find_trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/shell_argument.hpp"
#include "record/imported_runs.hpp"
#include "record/not_results.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "record/trial_names.hpp"

namespace backplane {
namespace {

// "trials: 0f3a... (2 x 1), ...; of other plans, by id: ..."
std::string TrialsThere(const std::filesystem::path& out, const std::vector<PlanLine>& plan) {
  constexpr size_t kShown = 8;
  std::vector<std::string> planned, others;
  std::set<std::string> known;
  const std::vector<std::string> names = ShortTrialNames(plan);
  for (const PlanLine& line : plan) {
    if (line.dropped) continue;
    const std::string& name = names[known.size()];
    planned.push_back(name.empty() ? line.trial_id : line.trial_id + " (" + name + ")");
    known.insert(line.trial_id);
  }
  for (const auto& entry : std::filesystem::directory_iterator(ResultsFolder{out}.trials()))
    if (const std::string id = entry.path().filename(); !known.contains(id)) others.push_back(id);
  std::sort(others.begin(), others.end());
  const auto list = [&](const std::vector<std::string>& words) {
    const std::vector<std::string> shown(words.begin(), words.begin() + static_cast<ptrdiff_t>(std::min(words.size(), kShown)));
    return fmt::format("{}{}", fmt::join(shown, ", "),
                       words.size() > kShown ? fmt::format(" and {} more", words.size() - kShown) : "");
  };
  return "trials: " + list(planned) + (others.empty() ? "" : "; of other plans, by id: " + list(others));
}

}  // namespace

std::vector<PlanLine> PlanLinesOf(const std::filesystem::path& out) {
  const std::filesystem::path file = ResultsFolder{out}.plan();
  return std::filesystem::exists(file) ? ReadPlanFile(file) : std::vector<PlanLine>();
}

std::vector<std::string> FindTrials(const std::filesystem::path& out, const std::string& prefix,
                                    const std::vector<PlanLine>& plan) {
  RejectImported(out);
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(ResultsFolder{out}.trials(), error)) {
    const std::string id = entry.path().filename().string();
    if (id.starts_with(prefix)) found.push_back(id);
  }
  if (error) throw std::runtime_error(NotResults(out, "trials/"));
  const std::vector<std::string> names = ShortTrialNames(plan);
  for (size_t i = 0, trial = 0; i < plan.size(); ++i) {
    const PlanLine& line = plan[i];
    if (line.dropped) continue;
    if (line.name == prefix || DisplayName(line, true) == prefix || names[trial] == prefix) found.push_back(line.trial_id);
    ++trial;
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty() && prefix.empty()) throw std::runtime_error(out.string() + " has no trial yet");
  if (found.empty())
    throw std::runtime_error("no trial of " + out.string() + " has the name '" + prefix + "' or an id that starts with it; " +
                             TrialsThere(out, plan));
  return found;
}

std::string FindTrial(const std::filesystem::path& out, const std::string& prefix, const std::vector<PlanLine>& plan) {
  const std::vector<std::string> found = FindTrials(out, prefix, plan);
  if (found.size() > 1 && prefix.empty())
    throw std::runtime_error(out.string() + " has " + std::to_string(found.size()) + " trials; name one, such as " + found[0] +
                             "\nhint: backplane status " + ShellArgument(out.string()));
  if (found.size() > 1)
    throw std::runtime_error("more than one trial matches the name or start of an id '" + prefix + "': " + found[0] + ", " +
                             found[1]);
  return found.front();
}

}  // namespace backplane
