#include "input/complete.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "config/unknown_keys.hpp"
#include "contract/schema.hpp"
#include "input/preset_places.hpp"
#include "plugin/plugin_search.hpp"
#include "record/finding_ids.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "record/trial_names.hpp"
#include "record/trial_state.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

bool HoldsResults(const fs::path& folder) { return fs::exists(ResultsFolder{folder}.plan()); }

bool IsExperiment(const fs::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

std::optional<fs::path> WordThat(const TypedLine& line, const std::function<bool(const fs::path&)>& fits) {
  const auto found = std::find_if(line.words.begin(), line.words.end(), [&](const auto& word) { return fits(word); });
  return found == line.words.end() ? std::nullopt : std::optional<fs::path>(*found);
}

Offers PluginIds(uint32_t kind, bool with_kind) {
  PluginSearch search({});
  Offers offers;
  for (const PluginInfo& info : search.All().plugins()) {
    if (kind == 0 || info.kind == kind) offers.push_back({with_kind ? info.id : info.short_id(), info.summary});
  }
  return offers;
}

// Every path of the file that is among the words, and what may stand there where that can be listed.
std::map<std::string, Offers> PathsOf(const TypedLine& line) {
  std::map<std::string, Offers> paths;
  const auto values = [](uint16_t type, const std::string& range) {
    if (type == BP_PARAM_BOOL) return WordOffers({"true", "false"});
    const bool is_list_of_words = type == BP_PARAM_ENUM || range.find('|') != std::string::npos;
    std::vector<std::string> words = is_list_of_words ? SplitWords(range, '|') : std::vector<std::string>();
    std::erase_if(words, [](const std::string& word) { return word.starts_with('[') || word.starts_with('('); });
    return WordOffers(words);
  };
  for (const HostKey& key : HostKeys()) {
    if (key.path.find(".options") != std::string::npos) continue;
    paths[key.path] = values(static_cast<uint16_t>(key.type), key.range);
  }
  paths["env.plugin"] = PluginIds(BP_KIND_ENV, false);
  paths["learner.plugin"] = PluginIds(BP_KIND_LEARNER, false);
  const auto file = WordThat(line, [](const fs::path& path) { return IsExperiment(path) && fs::is_regular_file(path); });
  if (!file) return paths;
  PluginSearch search({});
  const LoadResult result = LoadExperiment(*file, {{}, search.Lookup()});
  if (!result.loaded) return paths;
  for (const auto& [section, info] :
       {std::pair("env.options.", result.loaded->env), {"learner.options.", result.loaded->learner}}) {
    for (const OptionInfo& option : info->options)
      paths[section + option.path] = values(option.type, option.range.value_or(""));
  }
  return paths;
}

Offers PathsAndValues(const TypedLine& line) {
  const size_t equals = line.begun.find('=');
  Offers offers;
  for (auto& [path, values] : PathsOf(line)) {
    if (equals == std::string::npos) offers.push_back({path + "="});
    if (equals != std::string::npos && path == line.begun.substr(0, equals)) {
      for (Offer& value : values) offers.push_back({path + "=" + value.word, value.help});
    }
  }
  return offers;
}

Offers Trials(const TypedLine& line) {
  Offers offers;
  const auto out = WordThat(line, HoldsResults);
  if (!out) return offers;
  const std::vector<PlanLine> plan = ReadPlanFile(ResultsFolder{*out}.plan());
  const std::vector<std::string> names = ShortTrialNames(plan);
  for (size_t i = 0, trial = 0; i < plan.size(); ++i) {
    if (plan[i].dropped) continue;
    offers.push_back({plan[i].trial_id, names[trial]});
    offers.push_back({names[trial++], plan[i].trial_id});
  }
  return offers;
}

Offers Presets(const TypedLine& line) {
  Offers offers = {{"auto", "by the device found"}};
  std::vector<fs::path> folders = {OwnPresetFolder()};
  if (const auto file = WordThat(line, IsExperiment)) {
    folders.push_back(file->parent_path() / "presets");
    folders.push_back(file->parent_path() / "../presets");
  }
  std::error_code error;
  for (const fs::path& folder : folders) {
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (IsExperiment(it->path())) offers.push_back({it->path().stem().string()});
  }
  return offers;
}

}  // namespace

Offers OfferValues(const std::string& type, const TypedLine& line) {
  const auto is = [&](const char* word) { return type.find(word) != std::string::npos; };
  if (is("PATH=VALUE")) return PathsAndValues(line);
  if (is("FILE")) {
    Offers files = PathOffers(line, [](const fs::path& path) { return IsExperiment(path) || HoldsResults(path); });
    return files.empty() ? PathOffers(line, [](const fs::path&) { return true; }) : files;
  }
  if (is("OUT")) return PathOffers(line, HoldsResults);
  if (is("DIR")) return PathOffers(line, [](const fs::path&) { return false; });
  if (is("TRIAL")) return Trials(line);
  if (is("FINDING")) return WordOffers({std::begin(kFindingIds), std::end(kFindingIds)});
  if (is("PRESET")) return Presets(line);
  if (is("CLASS")) {
    Offers classes;
    for (const Outcome failure : kFailures) classes.push_back({Word(failure)});
    return classes;
  }
  return is("ID") ? PluginIds(0, true) : Offers();
}

}  // namespace backplane
