#include "sweep/file_hashes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/format_count.hpp"
#include "base/sha256.hpp"
#include "contract/placeholders.hpp"
#include "contract/start_source.hpp"
#include "sweep/python_files.hpp"
#include "sweep/xml_files.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMiB = 1 << 20;

// One hash of several files, by their names.
std::string HashOfAll(const std::map<std::string, std::string>& files) {
  return Sha256(json(files).dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace));
}

// Hashes the names and contents of the regular files in a folder, without its subfolders.
std::string HashOfFolder(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.emplace(entry.path().filename().string(), Sha256OfFile(entry.path()));
  }
  return HashOfAll(files);
}

bool IsRegularFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Opening a pipe waits for a writer, and a device may have no end.
bool IsPipeOrDevice(const fs::path& path) {
  using Type = fs::file_type;
  std::error_code error;
  const Type type = fs::status(path, error).type();
  return type == Type::fifo || type == Type::socket || type == Type::character || type == Type::block;
}

// A list of files that belong to the identity, which the user gives.
bool IsFileList(const OptionInfo& option) {
  return (option.flags & BP_PARAM_DATA) != 0 && option.type == BP_PARAM_ANY && option.range == "paths";
}

bool ListsFiles(const PluginInfo& info, const json& options) {
  return std::any_of(info.options.begin(), info.options.end(), [&](const OptionInfo& option) {
    const auto value = IsFileList(option) && options.is_object() ? options.find(option.path) : options.end();
    return value != options.end() && value->is_array() && !value->empty();
  });
}

}  // namespace

const std::string& FileHashes::Hash(const fs::path& file) {
  auto found = known_.find(file);
  if (found != known_.end()) return found->second;
  return known_.emplace(file, fs::is_directory(file) ? HashOfFolder(file) : Sha256OfFile(file)).first->second;
}

void FileHashes::AddReferences(const std::string& place, const std::string& file, Hashes* hashes) {
  const auto [known, fresh] = references_.try_emplace(file);
  if (fresh) {
    const std::map<std::string, fs::path> named = FilesNamedByXml(file);
    if (named.size() > kMaxXmlFiles) {
      references_.erase(known);
      throw NoDataFile(place, fmt::format("{}: expected an XML file that names at most {} files, got more at '{}'", place,
                                          FormatCount(kMaxXmlFiles), file));
    }
    Hashes each;
    for (const auto& [name, path] : named) {
      if (IsPipeOrDevice(path)) {
        references_.erase(known);
        throw NoDataFile(place, fmt::format("{}: expected a regular file at '{}', which '{}' names, got a pipe or a device",
                                            place, path.string(), file));
      }
      each.emplace(name, Hash(path));
    }
    if (!each.empty()) known->second = HashOfAll(each);
  }
  if (!known->second.empty()) hashes->emplace(place + "/references", known->second);
}

void FileHashes::AddModules(const std::string& place, const std::string& file, const std::string& list_in, Hashes* hashes) {
  const auto [known, fresh] = modules_of_.try_emplace(file);
  if (fresh) {
    const fs::path folder = fs::path(file).parent_path();
    const auto [all, fresh_folder] = modules_.try_emplace(folder);
    if (fresh_folder) {
      const auto found = PythonFilesBelow(folder);
      if (!found) {
        modules_.erase(all), modules_of_.erase(known);
        throw NoDataFile(place, fmt::format("{}: expected at most {} Python files of {} MiB in total below '{}', got more, and "
                                            "their content belongs to the trial's identity; list those that '{}' uses in {}",
                                            place, FormatCount(kMaxPythonFiles), kMaxPythonBytes / kMiB, folder.string(),
                                            fs::path(file).filename().string(), list_in));
      }
      try {
        for (const auto& [name, path] : *found) all->second.emplace(name, Hash(path));
      } catch (...) {  // half a folder is not known
        modules_.erase(all), modules_of_.erase(known);
        throw;
      }
    }
    Hashes others = all->second;
    others.erase(fs::path(file).filename().string());
    if (!others.empty()) known->second = HashOfAll(others);
  }
  if (!known->second.empty()) hashes->emplace(place + "/modules", known->second);
}

void FileHashes::AddFile(const std::string& place, const std::string& file, Hashes* hashes) {
  std::error_code error;
  const bool readable = fs::is_regular_file(file, error) || fs::is_directory(file, error);
  if (IsPipeOrDevice(file))
    throw NoDataFile(place, place + ": expected a regular file or a folder at '" + file + "', got a pipe or a device");
  if (known_.contains(file) || readable) hashes->emplace(place, Hash(file));
}

std::string FileHashes::AddFileLists(const PluginInfo& info, const json& options, const std::string& prefix, Hashes* hashes) {
  std::string list_in;
  for (const OptionInfo& option : info.options) {
    if (!IsFileList(option)) continue;
    list_in = prefix + option.path;
    const auto value = options.find(option.path);
    if (value == options.end() || !value->is_array()) continue;
    for (size_t i = 0; i < value->size(); ++i) {
      const std::string place = fmt::format("{}{}.{}", prefix, option.path, i), file = (*value)[i];
      std::error_code error;
      if (!fs::exists(file, error))
        throw NoDataFile(prefix + option.path, fmt::format("{}: expected a file or a folder, got none at '{}'", place, file));
      AddFile(place, file, hashes);
    }
  }
  return list_in;
}

void FileHashes::AddData(const PluginInfo& info, const json& options, const std::string& prefix, bool listed, Hashes* hashes) {
  if (!options.is_object()) return;
  listed = listed || ListsFiles(info, options);
  const std::string list_in = AddFileLists(info, options, prefix, hashes);
  for (const OptionInfo& option : info.options) {
    const auto value = (option.flags & BP_PARAM_DATA) != 0 ? options.find(option.path) : options.end();
    if (value == options.end() || !value->is_string()) continue;
    const std::string place = prefix + option.path, file = value->get<std::string>();
    AddFile(place, file, hashes);
    if (!IsRegularFile(file)) continue;
    if ((option.flags & BP_PARAM_XML) != 0) AddReferences(place, file, hashes);
    if ((option.flags & BP_PARAM_PYTHON) != 0 && !listed) AddModules(place, file, list_in, hashes);
  }
}

// A program without a slash is looked up when the trial starts. It belongs to the machine.
void FileHashes::AddFilesOf(const CommandConfig& command, Hashes* hashes) {
  std::map<std::string, std::string> programs;
  for (size_t i = 0; i < command.words.size(); ++i)
    programs.emplace("learner.command." + std::to_string(i), PlainWord(command.words[i]));
  if (command.function) programs.emplace(kFunctionLearner, command.function->substr(0, command.function->rfind(':')));
  for (const auto& [place, path] : programs) {
    if (!path.starts_with('/') || !IsRegularFile(path)) continue;
    hashes->emplace(place, Hash(path));
    if (!command.files.empty() || !IsPython(path)) continue;
    try {
      AddModules(place, path, "learner.files", hashes);
    } catch (const NoDataFile& error) {
      throw NoDataFile(command.function ? kFunctionLearner : kCommandLearner, error.what());  // its place in the file is known
    }
  }
  for (size_t i = 0; i < command.files.size(); ++i) {
    const std::string& path = command.files[i];
    std::error_code error;
    if (!IsRegularFile(path) && !fs::is_directory(path, error))
      throw NoDataFile("learner.files", "learner.files: expected a file or a folder, got none at '" + path + "'");
    hashes->emplace("learner.files." + std::to_string(i), Hash(path));
  }
}

void FileHashes::AddStart(const Experiment& experiment, Hashes* hashes) {
  if (!experiment.start_from) return;
  const std::string& source = *experiment.start_from;
  const auto [known, fresh] = starts_.try_emplace(source);
  try {
    if (fresh) known->second = FindStartSource(source).sha256;
  } catch (const StartSourceError& error) {
    const auto kept =
        kept_in_ ? FindKeptStart(kept_in_->empty() ? fs::path(experiment.output_dir) : *kept_in_, source) : std::nullopt;
    if (!kept) {
      starts_.erase(known);
      throw NoDataFile(kStartKey, error.what());
    }
    known->second = kept->sha256;
  }
  hashes->emplace(kStartKey, known->second);
}

std::map<std::string, std::string> FileHashes::Of(const LoadedExperiment& loaded) {
  Hashes hashes;
  const Experiment& experiment = loaded.experiment;
  if (loaded.env->id != kNoEnv) hashes["env.plugin"] = Hash(loaded.env->file);
  if (experiment.HasCommand()) {
    AddFilesOf(experiment.command, &hashes);
  } else {
    hashes["learner.plugin"] = Hash(loaded.learner->file);
  }
  for (size_t i = 0; i < loaded.wrappers.size(); ++i) {
    const std::string place = fmt::format("env.wrappers.{}.", i);
    hashes[place + "plugin"] = Hash(loaded.wrappers[i]->file);
    AddData(*loaded.wrappers[i], experiment.wrappers[i].options, place + "options.", false, &hashes);
  }
  const bool listed = ListsFiles(*loaded.env, experiment.env.options);
  AddData(*loaded.env, experiment.env.options, "env.options.", false, &hashes);
  AddData(*loaded.env, experiment.evaluation.env_options, "evaluation.env.options.", listed, &hashes);
  AddData(*loaded.learner, experiment.learner.options, "learner.options.", false, &hashes);
  AddStart(experiment, &hashes);
  return hashes;
}

}  // namespace backplane
