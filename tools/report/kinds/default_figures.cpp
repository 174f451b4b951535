#include <algorithm>

#include "kinds/comparison_figures.hpp"

namespace backplane {
namespace {

bool IsCurve(const Combined& combined, const std::string& name) {
  return std::any_of(combined.trials.begin(), combined.trials.end(), [&](const CombinedTrial& trial) {
    const auto found = trial.data.curves.find(name);
    return found != trial.data.curves.end() && found->second.size() > 1;
  });
}

}  // namespace

std::vector<FigureSpec> DefaultFigures(const Combined& combined) {
  std::vector<std::string> names;
  for (const char* name : {"eval/return", "return"})
    if (IsCurve(combined, name)) names.push_back(name);
  for (const char* name : {"train/loss", "SPS"})
    if (names.empty() && IsCurve(combined, name)) names.push_back(name);
  if (names.empty()) return {};
  FigureSpec curves;
  curves.kind = FigureSpec::Kind::kCurves;
  curves.file = "training_curves.png";
  for (const std::string& name : names) curves.curves.push_back({name, name == "train/loss" ? "iteration" : "env_steps", ""});
  return {curves};
}

}  // namespace backplane
