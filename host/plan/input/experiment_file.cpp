#include "input/experiment_file.hpp"

#include <algorithm>
#include <string>

#include "base/files.hpp"
#include "base/shell_argument.hpp"
#include "base/suggest.hpp"
#include "input/split_commas.hpp"
#include "log/log.hpp"
#include "plugin/plugin_search.hpp"
#include "record/results_folder.hpp"
#include "record/run_info.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr size_t kListedLetters = 120;

bool IsYaml(const fs::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

std::vector<std::string> YamlFilesIn(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (IsYaml(entry.path())) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string FilesIn(const fs::path& folder) {
  const std::vector<std::string> files = YamlFilesIn(folder);
  if (files.empty()) return "'" + folder.string() + "' is a folder with neither experiment files (*.yaml) nor results";
  std::string names;  // in two lines at most
  for (const std::string& file : files) {
    const std::string name = fs::path(file).filename().string();
    if (names.size() + name.size() > kListedLetters) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") + name;
  }
  return "expected an experiment file, got the folder '" + folder.string() + "'; name one of its files: " + names;
}

// The command with another file.
std::string HintFor(FileArgs input, const std::string& file) {
  input.file = file;
  return "\nhint: " + input.typed_command + " " + FileArguments(input);
}

// A word behind the file that is no value: the folder for results, or nothing known.
std::string HintForWord(const FileArgs& input, const std::string& word, bool has_out) {
  std::error_code error;
  const std::string same = "\nhint: " + input.typed_command + " " + FileArguments(input);
  return has_out && word.find('/') != word.npos && !fs::is_regular_file(word, error) ? same + " --out " + ShellArgument(word)
                                                                                     : same;
}

}  // namespace

bool IsResultsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(ResultsFolder{path}.plan(), error);
}

std::string FindExperimentFile(FileArgs* input, bool or_results) {
  std::error_code error;
  if (IsResultsFolder(input->file))
    return or_results ? ""
                      : "'" + input->file.string() +
                            "' is a results folder; name the experiment file, or `run` the folder to resume it";
  if (fs::is_directory(input->file, error)) {
    const std::vector<std::string> files = YamlFilesIn(input->file);
    return FilesIn(input->file) + (files.empty() ? "" : HintFor(*input, files.front()));
  }
  if (fs::exists(input->file, error)) return "";
  for (const char* ending : {".yaml", ".yml"}) {
    const fs::path other = fs::path(input->file).replace_extension(ending);
    if ((IsYaml(input->file) || !input->file.has_extension()) && fs::is_regular_file(other, error)) {
      if (input->file.has_extension()) LogInfo("{} does not exist; reading {}", input->file.string(), other.string());
      input->file = other;
      return "";
    }
  }
  if (const fs::path shipped = OwnShare() / input->file; input->file.is_relative() && fs::is_regular_file(shipped, error)) {
    LogInfo("{} does not exist; reading the installed {}", input->file.string(), shipped.string());
    input->file = shipped;
    return "";
  }
  const std::vector<std::string> files = YamlFilesIn(input->file.has_parent_path() ? input->file.parent_path() : ".");
  std::vector<Candidate> names;
  for (const std::string& file : files) {
    const std::string name = fs::path(file).filename().string();
    names.push_back({name, input->file.has_parent_path() ? file : name});
  }
  const std::vector<std::string> near = Nearest(input->file.filename().string(), names);
  if (near.empty()) return "";  // reading it reports the missing file
  return "there is no file '" + input->file.string() + "'" + DidYouMean(near) + HintFor(*input, near.front());
}

std::optional<RunArgs> CommandOf(RunArgs args) {
  const ResultsFolder out{args.input.file};
  const auto refuse = [&](const std::string& why) {
    LogError("backplane: {}: {}\nnothing was started", args.input.file.string(), why);
    return std::nullopt;
  };
  const std::optional<std::string> text = ReadFile(out.run());
  if (!text)
    return refuse(out.run().filename().string() +
                  " is missing, so the command that made these results is unknown; name the experiment file");
  const RunInfo run = ReadTolerantly<RunInfo>(nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false));
  if (run.imported) return refuse("these are imported runs, which reports can read but `run` cannot resume");
  if (run.arguments && !run.arguments->command.empty())  // another plan would take its place
    return refuse("these results belong to a different command; resume them with: " + run.arguments->command);
  std::error_code error;
  if (run.config_file.empty() || !fs::is_regular_file(run.config_file, error)) {
    return refuse("the experiment file of these results does not exist: '" + run.config_file.string() +
                  "'; change to the folder where you started the first run, or name the file");
  }
  const auto before = [](std::vector<std::string> first, const std::vector<std::string>& then) {
    first.insert(first.end(), then.begin(), then.end());
    return first;
  };
  args.out = args.input.file;
  args.input.file = run.config_file;
  args.input.set = before(run.set, args.input.set);
  args.sweep = before(run.sweep, args.sweep);
  if (const std::optional<TypedArguments>& typed = run.arguments) {
    if (args.input.preset.empty()) args.input.preset = typed->preset;
    args.input.plugin_path = before(typed->plugin_path, args.input.plugin_path);
    args.skip_invalid = args.skip_invalid || !typed->skip_invalid.empty();
    if (!typed->jobs.empty() && !args.jobs) args.jobs = static_cast<unsigned>(std::stoul(typed->jobs));
    if (!typed->gpus.empty() && !args.gpus) ReadNumbers(typed->gpus, &args.gpus.emplace());
  }
  return args;
}

void AddFile(Arguments* add, FileArgs* target, bool or_results) {
  add->Add("file", "FILE", &target->file, "Experiment file (YAML)").Required();
  add->Add("values", "PATH=VALUE", &target->values, "Values to set, as with --set");
  add->Add("-s,--set", "PATH=VALUE", &target->set, "Set a value: path=value; +path=value adds a missing key; may be repeated");
  target->typed_command = add->program() + " " + add->command();
  add->Check([target, or_results]() -> std::string {
    for (const std::string& word : target->values) {
      if (word.find('=') == std::string::npos)
        return "expected PATH=VALUE after the experiment file, got '" + word + "'" + HintForWord(*target, word, or_results);
      target->set.push_back(word);
    }
    return FindExperimentFile(target, or_results);
  });
  add->Add("--preset", "PRESET", &target->preset,
           "Settings for a kind of machine: a name (presets/NAME.yaml next to the file or installed), a path, or auto to "
           "choose by the device found; --set overrides them");
  add->PluginPath(&target->plugin_path);
}

}  // namespace backplane
