#include "input/other_command_names.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/shell_argument.hpp"
#include "config/loader.hpp"
#include "config/unknown_keys.hpp"
#include "contract/schema.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 40> kOtherNames = {{
    {"train", "run FILE"},
    {"start", "run FILE"},
    {"fit", "run FILE"},
    {"exec", "run FILE"},
    {"launch", "run FILE"},
    {"learn", "run FILE"},
    {"sweep", "run FILE`, with a key `sweep` in the file"},
    {"resume", "run FILE` again to resume it"},
    {"continue", "run FILE` again to resume it"},
    {"retry", "run FILE --only-failed"},
    {"optimize", "tune FILE"},
    {"list", "plugin list"},
    {"ls", "plugin list"},
    {"plugins", "plugin list"},
    {"envs", "plugin list"},
    {"describe", "plugin describe ID"},
    {"info", "plugin describe ID"},
    {"options", "plugin describe ID"},
    {"validate", "config check FILE"},
    {"check", "config check FILE"},
    {"lint", "config check FILE"},
    {"schema", "config schema"},
    {"show", "config show FILE"},
    {"init", "run configs/quickstart.yaml`, or write a plugin with `backplane new env NAME`"},
    {"create", "run configs/quickstart.yaml`, or write a plugin with `backplane new env NAME`"},
    {"scaffold", "new env NAME, new learner NAME or new monitor NAME"},
    {"template", "new env NAME, new learner NAME or new monitor NAME"},
    {"ps", "status OUT"},
    {"jobs", "status OUT"},
    {"logs", "watch OUT"},
    {"tail", "watch OUT"},
    {"kill", "stop OUT"},
    {"cancel", "stop OUT"},
    {"results", "report OUT"},
    {"plot", "report OUT"},
    {"analyze", "report OUT"},
    {"play", "render OUT TRIAL"},
    {"enjoy", "render OUT TRIAL"},
    {"benchmark", "bench"},
    {"tensorboard", "export tb OUT"},
}};

// A file among the words: the experiment that an option was meant for.
std::optional<std::filesystem::path> FileAmong(const std::vector<std::string>& words) {
  std::error_code error;
  for (const std::string& word : words) {
    if (std::filesystem::is_regular_file(word, error)) return word;
  }
  return std::nullopt;
}

// Every path that the file may set, under each of its names. Without plugins' options if the file has errors.
std::vector<Candidate> PathsOf(const std::filesystem::path& file) {
  std::vector<Candidate> paths;
  PluginSearch search({});
  const LoadResult result = LoadExperiment(file, {{}, search.Lookup()});
  const auto add = [&](const PluginInfo& info, const std::string& section) {
    for (const OptionInfo& option : info.options) {
      paths.push_back({option.path, section + option.path});
      for (const std::string& alias : option.aliases) paths.push_back({alias, section + option.path});
    }
  };
  if (result.loaded) {
    add(*result.loaded->learner, "learner.options.");
    add(*result.loaded->env, "env.options.");
  }
  for (const HostKey& key : HostKeys()) {
    paths.push_back({key.path.substr(key.path.rfind('.') + 1), key.path});
    for (const std::string& name : OtherNames(key)) paths.push_back({name, key.path});
  }
  return paths;
}

}  // namespace

std::string MeantByCommand(const std::string& word) {
  const auto* found =
      std::find_if(kOtherNames.begin(), kOtherNames.end(), [&](const auto& name) { return name.first == word; });
  if (found != kOtherNames.end()) return std::string(found->second);
  std::error_code error;
  return std::filesystem::is_regular_file(word, error) ? "run " + ShellArgument(word) : "";
}

std::vector<Candidate> NamesToSet(const std::vector<std::string>& words) {
  const std::optional<std::filesystem::path> file = FileAmong(words);
  return file ? PathsOf(*file) : std::vector<Candidate>();
}

}  // namespace backplane
