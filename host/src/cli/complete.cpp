#include "cli/complete.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "base/printable.hpp"
#include "cli/preset_places.hpp"
#include "config/schema.hpp"
#include "config/unknown_keys.hpp"
#include "plugin/plugin_search.hpp"
#include "record/finding_ids.hpp"
#include "record/plan_file.hpp"
#include "record/trial_names.hpp"
#include "record/trial_state.hpp"
#include "supervise/layout.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct Offer {
  std::string word, help = "";
};
using Offers = std::vector<Offer>;

// The words before, and what is begun.
struct Line {
  std::vector<std::string> words;
  std::string begun;
};

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(at, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

Offers Words(const std::vector<std::string>& words) {
  Offers offers;
  for (const std::string& word : words) offers.push_back({word});
  return offers;
}

bool HoldsResults(const fs::path& folder) { return fs::exists(ResultsFolder{folder}.plan()); }

// What stands in the folder that is begun: files that `wants` admits, folders with a '/' behind, results folders without.
Offers Paths(const Line& line, const std::function<bool(const fs::path&)>& wants) {
  const size_t slash = line.begun.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : line.begun.substr(0, slash + 1);
  const bool hidden = line.begun.substr(folder.size()).starts_with('.');
  Offers offers;
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with('.') && !hidden) continue;
    if (it->is_directory(error))
      offers.push_back({folder + name + (wants(it->path()) ? "" : "/")});
    else if (wants(it->path()))
      offers.push_back({folder + name});
  }
  return offers;
}

bool IsExperiment(const fs::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

std::optional<fs::path> WordThat(const Line& line, const std::function<bool(const fs::path&)>& fits) {
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
std::map<std::string, Offers> PathsOf(const Line& line) {
  std::map<std::string, Offers> paths;
  const auto values = [](uint16_t type, const std::string& range) {
    if (type == BP_PARAM_BOOL) return Words({"true", "false"});
    const bool is_list_of_words = type == BP_PARAM_ENUM || range.find('|') != std::string::npos;
    std::vector<std::string> words = is_list_of_words ? Split(range, '|') : std::vector<std::string>();
    std::erase_if(words, [](const std::string& word) { return word.starts_with('[') || word.starts_with('('); });
    return Words(words);
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

Offers PathsAndValues(const Line& line) {
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

Offers Trials(const Line& line) {
  Offers offers;
  const auto out = WordThat(line, HoldsResults);
  if (!out) return offers;
  const std::vector<PlanLine> plan = ReadPlanFile(ResultsFolder{*out}.plan());
  const std::vector<std::string> names = ShortTrialNames(plan).names;
  for (size_t i = 0, trial = 0; i < plan.size(); ++i) {
    if (plan[i].dropped) continue;
    offers.push_back({plan[i].trial_id, names[trial]});
    offers.push_back({names[trial++], plan[i].trial_id});
  }
  return offers;
}

Offers Presets(const Line& line) {
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

// By what --help calls a value: "SHELL:{bash,zsh,fish}" lists its words.
Offers Values(const std::string& type, const Line& line) {
  const size_t brace = type.find('{'), end = type.find('}');
  if (brace < end && end != std::string::npos) return Words(Split(type.substr(brace + 1, end - brace - 1), ','));
  const auto is = [&](const char* word) { return type.find(word) != std::string::npos; };
  if (is("PATH=VALUE")) return PathsAndValues(line);
  if (is("FILE")) {
    Offers files = Paths(line, [](const fs::path& path) { return IsExperiment(path) || HoldsResults(path); });
    return files.empty() ? Paths(line, [](const fs::path&) { return true; }) : files;
  }
  if (is("OUT")) return Paths(line, HoldsResults);
  if (is("DIR")) return Paths(line, [](const fs::path&) { return false; });
  if (is("TRIAL")) return Trials(line);
  if (is("FINDING")) return Words({std::begin(kFindingIds), std::end(kFindingIds)});
  if (is("PRESET")) return Presets(line);
  if (is("CLASS")) {
    Offers classes;
    for (const Outcome failure : kFailures) classes.push_back({Word(failure)});
    return classes;
  }
  return is("ID") ? PluginIds(0, true) : Offers();
}

const CLI::Option* OptionCalled(const CLI::App& app, const std::string& word) {
  return word.starts_with("--") && word.size() > 2 ? app.get_option_no_throw(word.substr(0, word.find('='))) : nullptr;
}

const CLI::App* CommandCalled(const CLI::App& app, const std::string& word) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == word) return command;
  return nullptr;
}

bool TakesValue(const CLI::Option* option) { return option != nullptr && option->get_items_expected_max() > 0; }

Offers SubcommandsOf(const CLI::App& app) {
  Offers offers;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    offers.push_back({command->get_name(), command->get_description()});
  return offers;
}

Offers OptionsOf(const CLI::App& app) {
  Offers offers;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) offers.push_back({"--" + name, option->get_description()});
  }
  return offers;
}

// The value at this place among those without a name; one that may be given often takes all that follow.
Offers ValueAt(const CLI::App& app, size_t place, const Line& line) {
  const std::vector<const CLI::Option*> places = app.get_options([](const CLI::Option* o) { return o->get_positional(); });
  size_t first = 0;
  for (const CLI::Option* option : places) {
    const bool is_list = option->get_items_expected_max() > 1;
    if (is_list || place == first++) return Values(option->get_type_name(), line);
  }
  return {};
}

Offers OffersFor(const CLI::App& root, const Line& line) {
  const CLI::App* at = &root;
  size_t values = 0;
  for (size_t i = 0; i < line.words.size(); ++i) {
    const std::string& word = line.words[i];
    const CLI::App* below = CommandCalled(*at, word);
    if (at == &root && word == "help") continue;
    if (below != nullptr) {
      at = below, values = 0;
    } else if (!word.starts_with('-')) {
      ++values;
    } else if (const CLI::Option* option = OptionCalled(*at, word); TakesValue(option) && word.find('=') == std::string::npos) {
      if (i + 1 == line.words.size()) return Values(option->get_type_name(), line);
      ++i;
    }
  }
  if (line.begun.starts_with('-')) {
    const size_t equals = line.begun.find('=');
    const CLI::Option* option = equals == std::string::npos ? nullptr : OptionCalled(*at, line.begun);
    if (!TakesValue(option)) return OptionsOf(*at);
    Offers offers = Values(option->get_type_name(), {line.words, line.begun.substr(equals + 1)});
    for (Offer& offer : offers) offer.word.insert(0, line.begun.substr(0, equals + 1));
    return offers;
  }
  Offers offers = ValueAt(*at, values, line);
  if (values > 0) return offers;
  for (Offer& command : SubcommandsOf(*at)) offers.push_back(std::move(command));
  return offers;
}

}  // namespace

void PrintCompletions(const CLI::App& root, const std::vector<std::string>& words) {
  Line line{words, ""};
  if (!words.empty()) line.begun = words.back(), line.words.pop_back();
  Offers offers = OffersFor(root, line);
  std::erase_if(offers, [&](const Offer& offer) { return !offer.word.starts_with(line.begun); });
  std::ranges::sort(offers, {}, &Offer::word);
  offers.erase(std::unique(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return a.word == b.word; }),
               offers.end());
  for (const Offer& offer : offers) std::printf("%s\t%s\n", Printable(offer.word).c_str(), Printable(offer.help, 80).c_str());
}

}  // namespace backplane
