#include "cli/commands.hpp"
#include "cli/load_file.hpp"
#include "config/yaml_text.hpp"

namespace backplane {

int ConfigCheckCommand(const FileArgs& args) {
  PluginSearch search(args.plugin_path);
  const std::optional<LoadedExperiment> loaded = LoadOrComplain(args, &search);
  if (!loaded) {
    return kUsage;
  }
  std::printf("%s: ok (%s with %s, %llu rows)\n", args.file.c_str(), loaded->learner->id.c_str(), loaded->env->id.c_str(),
              static_cast<unsigned long long>(loaded->experiment.rollout.rows()));
  return kOk;
}

int ConfigShowCommand(const ConfigShowArgs& args) {
  PluginSearch search(args.input.plugin_path);
  const std::optional<LoadedExperiment> loaded = LoadOrComplain(args.input, &search);
  if (!loaded) {
    return kUsage;
  }
  const auto& origin = loaded->origin;
  YamlTextOptions options;
  options.keep = [&](const std::string& path) { return args.resolved || origin.contains(path); };
  options.comment = [&](const std::string& path) -> std::string {
    const auto found = origin.find(path);
    return !args.origin ? "" : found == origin.end() ? "default" : found->second;
  };
  std::fputs(YamlText(ToJson(loaded->experiment), options).c_str(), stdout);
  return kOk;
}

}  // namespace backplane
