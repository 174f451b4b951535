#include "input/other_command_names.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "config/base.hpp"
#include "config/loader.hpp"
#include "config/unknown_keys.hpp"
#include "contract/schema.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// FILE, OUT and ID stand for words behind the command.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"train", "run FILE"},
    {"start", "run FILE"},
    {"fit", "run FILE"},
    {"exec", "run FILE"},
    {"launch", "run FILE"},
    {"learn", "run FILE"},
    {"sweep", "run FILE"},
    {"resume", "run OUT"},
    {"continue", "run OUT"},
    {"retry", "run OUT --only-failed"},
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
    {"init", "run configs/quickstart.yaml"},
    {"create", "run configs/quickstart.yaml"},
    {"scaffold", "new env my_task"},
    {"template", "new env my_task"},
    {"ps", "status OUT"},
    {"jobs", "status OUT"},
    {"logs", "watch OUT"},
    {"tail", "watch OUT"},
    {"kill", "stop OUT"},
    {"cancel", "stop OUT"},
    {"results", "report OUT"},
    {"plot", "report OUT"},
    {"analyze", "report OUT"},
    {"play", "render OUT"},
    {"enjoy", "render OUT"},
    {"benchmark", "bench FILE"},
    {"tensorboard", "export tb OUT"},
};

// Options of other tools for a value of the experiment: the path, or "OPTION else PATH" for the learner's option if it has one.
struct OtherOption {
  std::string_view name, path, option = "";
};
constexpr OtherOption kOtherOptions[] = {
    {"seeds", "sweep.seeds.n"},
    {"num_seeds", "sweep.seeds.n"},
    {"n_seeds", "sweep.seeds.n"},
    {"num_samples", "sweep.search.trials"},
    {"n_trials", "sweep.search.trials"},
    {"num_trials", "sweep.search.trials"},
    {"trials", "sweep.search.trials"},
    {"workers", "rollout.num_env_runners", "num_workers"},
    {"num_workers", "rollout.num_env_runners", "num_workers"},
    {"n_jobs", "rollout.num_env_runners", "num_workers"},
    {"epochs", "budget.epochs", "num_epochs"},
    {"n_epochs", "budget.epochs", "num_epochs"},
    {"steps", "budget.env_steps", "steps"},
    {"n_steps", "budget.env_steps", "n_steps"},
    {"timesteps", "budget.env_steps", "timesteps"},
    {"env", "env"},
    {"env_id", "env"},
    {"algo", "learner"},
};
constexpr std::string_view kFileOptions[] = {"config", "config_file", "config_name", "config_path", "cfg", "conf", "file", "f",
                                             "c"};

// A file among the words: the experiment that an option was meant for.
std::optional<fs::path> FileAmong(const std::vector<std::string>& words) {
  std::error_code error;
  for (const std::string& word : words) {
    if (fs::is_regular_file(word, error)) return word;
  }
  return std::nullopt;
}

// Every path that a file among the words may set, by each of its names; without a valid file, the host's keys only.
std::vector<Candidate> NamesToSet(const std::vector<std::string>& words) {
  const std::optional<fs::path> file = FileAmong(words);
  std::vector<Candidate> paths;
  PluginSearch search({});
  const LoadResult result = file ? LoadExperiment(*file, {{}, search.Lookup()}) : LoadResult();
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

// An env's name, or the mapping of a plugin that finds it in another library.
std::string EnvValue(const std::string& name) {
  PluginSearch search({});
  std::string why_not;
  if (search.All().Find(BP_KIND_ENV, name, &why_not) != nullptr) return name;
  const size_t hint = why_not.find("\nhint: env: ");
  return hint == why_not.npos ? name : why_not.substr(hint + 12);
}

std::string KeyOf(const std::string& option) {
  std::string key = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::ranges::replace(key, '-', '_');
  return key;
}

std::string MeantByCommand(const std::string& word) {
  const auto* found = std::ranges::find(kOtherNames, word, &std::pair<std::string_view, std::string_view>::first);
  if (found != std::end(kOtherNames)) return std::string(found->second);
  std::error_code error;
  return fs::is_regular_file(word, error) ? "run " + word : fs::is_directory(word, error) ? "run " + word : "";
}

// "walker" of "Walker-v1".
std::string PlainWord(std::string word) {
  if (const size_t version = word.rfind("-v"); version != word.npos && version > 0) word.resize(version);
  std::string plain;
  for (const char c : word)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

// The number of words that the path of a file contains, as a folder or as the name.
size_t WordsIn(const fs::path& file, const std::vector<std::string>& words) {
  return static_cast<size_t>(std::ranges::count_if(words, [&](const std::string& word) {
    const std::string plain = PlainWord(word);
    return !plain.empty() &&
           std::any_of(file.begin(), file.end(), [&](const fs::path& part) { return PlainWord(part.stem()) == plain; });
  }));
}

// Returns the file below `folder` whose path contains most of the words, the first by name among equals. Empty: none contains
// `least` of them.
fs::path FileBelow(const fs::path& folder, const std::vector<std::string>& words, size_t least) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".yaml") files.push_back(it->path());
  std::ranges::sort(files);
  fs::path best;
  size_t most = least - 1;
  for (const fs::path& file : files) {
    const size_t count = WordsIn(file.lexically_relative(folder), words);
    if (count > most) most = count, best = file;
  }
  return best;
}

// A file here, or else one of the installation, which commands find by the same name. Empty: none contains `least` words.
std::string FileWith(const std::vector<std::string>& words, size_t least) {
  for (const fs::path& root : {fs::path(), OwnShare()}) {
    if (const fs::path found = FileBelow(root / "configs", words, least); !found.empty())
      return root.empty() ? found.string() : found.lexically_relative(root).string();
  }
  return "";
}

std::string MeantFile(const std::vector<std::string>& words) {
  const std::string found = FileWith(words, 1);
  return found.empty() ? "configs/quickstart.yaml" : found;
}

// Removes options that name the file, and returns the file of their values.
std::string FileOf(const std::string& value, std::vector<std::string>* others) {
  fs::path path = value;
  for (size_t i = 0; i + 1 < others->size(); ++i) {
    if (!others->at(i).starts_with('-') || !std::ranges::count(kFileOptions, KeyOf(others->at(i)))) continue;
    path = KeyOf(others->at(i)) == "config_path" ? others->at(i + 1) / path : path / others->at(i + 1);
    others->erase(others->begin() + static_cast<std::ptrdiff_t>(i), others->begin() + static_cast<std::ptrdiff_t>(i) + 2);
    --i;
  }
  std::error_code error;
  if (fs::is_regular_file(path, error)) return path.string();
  path += ".yaml";
  return fs::is_regular_file(path, error) || fs::is_regular_file(OwnShare() / path, error) ? path.string() : "";
}

// A list of values, such as "1e-3,1e-4", is an axis of a sweep.
std::vector<std::string> Setting(const std::string& path, const std::string& value) {
  if (value.find(',') == value.npos || value.find_first_of("[{") != value.npos) return {"--set", path + "=" + value};
  std::string values = value;
  for (size_t at = 0; (at = values.find(',', at)) != values.npos; at += 2) values.replace(at, 1, ", ");
  return {"--set", "sweep.grid={" + path + ": [" + values + "]}"};
}

bool HasSearch(const fs::path& file) {
  Errors reported_elsewhere;
  const std::optional<Node> root = ReadWithBase(file, &reported_elsewhere);
  return root && FindPath(*root, "sweep.search") != nullptr;
}

// `--num-samples 20`: of this file, or of one with a search for the same task. False: there is none.
bool UseFileWithSearch(std::vector<std::string>* words) {
  const std::optional<fs::path> file = FileAmong(*words);
  if (!file) return false;
  if (HasSearch(*file)) return true;
  const std::string task = file->stem().string();
  const bool is_run = words->front() == "run" || words->front() == "tune";
  const std::string other = is_run && PlainWord(task) != "search" ? FileWith({"search", task}, 2) : "";
  if (other.empty()) return false;
  std::ranges::replace(*words, file->string(), other);
  words->front() = "run";
  return true;
}

std::vector<std::string> SettingMeantBy(const std::string& name, const std::string& value, std::vector<std::string>* others) {
  const std::string key = KeyOf(name);
  if (name == "-m" || name == "--multirun")
    return value.empty() ? std::vector<std::string>() : std::vector<std::string>{"--sweep", value};
  if (std::ranges::count(kFileOptions, key) != 0) {
    const std::string file = FileOf(value, others);
    if (!file.empty() && !others->empty()) others->push_back(file);  // behind `config check`, or the file of a baseline
    return {};
  }
  const auto* other = std::ranges::find(kOtherOptions, key, &OtherOption::name);
  if (other != std::end(kOtherOptions) && !value.empty()) {
    const std::vector<Candidate> names = NamesToSet(*others);
    const std::string option = "learner.options." + std::string(other->option);
    const bool has_option = std::ranges::count(names, option, &Candidate::shown) != 0;
    if (other->path == "sweep.search.trials" && !UseFileWithSearch(others)) {
      others->resize(std::min<size_t>(others->size(), 1));
      return {"--help"};
    }
    if (other->path == "env") return {"--set", "env=" + EnvValue(value)};
    return Setting(has_option ? option : std::string(other->path), value);
  }
  if (value.find(',') == value.npos) return {};
  std::vector<std::string> near = Nearest(key, NamesToSet(*others));
  return near.empty() ? near : Setting(near.front(), value);
}

// For `run` without a file, adds one to the other words.
std::vector<std::string> MeantByOption(const std::string& name, const std::string& value, std::vector<std::string>* others) {
  std::vector<std::string> words = SettingMeantBy(name, value, others);
  const bool has_file = std::ranges::any_of(*others, [](const std::string& word) { return word.ends_with(".yaml"); });
  if (!words.empty() && words.front() == "--set" && !has_file && !others->empty() && others->front() == "run")
    others->insert(others->begin() + 1, MeantFile({value}));
  return words;
}

}  // namespace

Meanings MeaningsOfOtherTools() { return {MeantByCommand, MeantFile, MeantByOption, NamesToSet}; }

}  // namespace backplane
