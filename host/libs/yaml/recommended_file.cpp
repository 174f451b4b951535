#include "yaml/recommended_file.hpp"

#include <fmt/format.h>

#include "base/json_fields.hpp"
#include "base/json_path.hpp"
#include "yaml/yaml_text.hpp"

namespace backplane {

std::string RecommendedFile(nlohmann::json config, const std::string& suffix, const std::vector<std::string>& comments,
                            OfBudget budget) {
  const std::string name = Text(At(config, "experiment")) + suffix;
  SetAtPath(&config, "experiment", name);
  SetAtPath(&config, "output.dir", "outputs/" + name);
  SetAtPath(&config, "resources.exclusive", false);
  // Settings of the batch's files; its preset, whose values are written out and partly replaced; and its report.
  for (const char* path : {"output.report_dir", "output.progress_file", "preset", "report"}) RemoveAtPath(&config, path);
  if (budget == OfBudget::kLeftOut) RemoveAtPath(&config, "budget");
  std::string text;
  for (std::string comment : comments) {
    if (comment.empty()) continue;
    for (char& c : comment) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    text += "# " + comment + "\n";
  }
  if (budget == OfBudget::kKept) return text + YamlText(config, {});
  // A command ends by itself; a budget limits its reports.
  const nlohmann::json& learner = At(config, "learner");
  const bool is_function = !At(learner, "function").is_null();
  text += is_function || !At(learner, "command").is_null()
              ? fmt::format("# The setting without a budget, because its {} ends by itself.\n",
                            is_function ? "function" : "command")
              : "# The setting without a budget: choose one, as in `run THIS_FILE " + std::string(kSomeBudget) + "`.\n";
  return text + YamlText(config, {});
}

std::string StartedWith(const std::string& recommended) {
  return recommended.find(kSomeBudget) == std::string::npos ? "" : std::string(" ").append(kSomeBudget);
}

}  // namespace backplane
