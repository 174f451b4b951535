#include "config/recommended_file.hpp"

#include <fmt/format.h>

#include "config/experiment.hpp"
#include "config/yaml_text.hpp"

namespace backplane {

using nlohmann::json;

std::string RecommendedFile(const json& config, const std::string& suffix, const std::vector<std::string>& comments) {
  Experiment experiment = ExperimentFromJson(config);
  experiment.name += suffix;
  experiment.output_dir = "outputs/" + experiment.name;
  experiment.report_dir.reset();
  experiment.progress_file.reset();
  experiment.report = {};
  experiment.resources.exclusive = false;
  experiment.preset.reset();  // its values stand here, and some may have been replaced
  // A budget of a measurement is none of a training.
  json setting = ToJson(experiment);
  setting.erase("budget");
  std::string text;
  for (std::string comment : comments) {
    if (comment.empty()) continue;
    for (char& c : comment) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    text += "# " + comment + "\n";
  }
  return text + "# The setting without a budget: how long to train is for you to say, as in `run THIS_FILE " +
         std::string(kSomeBudget) + "`.\n" + YamlText(setting, {});
}

}  // namespace backplane
