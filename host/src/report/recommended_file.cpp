#include "report/recommended_file.hpp"

#include "config/experiment.hpp"
#include "config/yaml_text.hpp"

namespace backplane {

std::string RecommendedFile(const nlohmann::json& config, const std::string& suffix, const std::vector<std::string>& comments) {
  Experiment experiment = ExperimentFromJson(config);
  experiment.name += suffix;
  experiment.output_dir = "outputs/" + experiment.name;
  experiment.report_dir.reset();
  experiment.progress_file.reset();
  experiment.report = {};
  experiment.resources.exclusive = false;
  experiment.preset.reset();  // its values stand here, and some may have been replaced
  std::string text;
  for (std::string comment : comments) {
    for (char& c : comment) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    text += "# " + comment + "\n";
  }
  return text + YamlText(ToJson(experiment), {});
}

}  // namespace backplane
