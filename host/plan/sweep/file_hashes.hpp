// Content hashes of the files that decide a trial's results. No plugin code is run to find them: an option's flags declare what
// kind of file it names.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/loader.hpp"

namespace backplane {

// The files of an option or of a command cannot be hashed. One is a pipe or a device, or they are too many.
struct NoDataFile : std::runtime_error {
  NoDataFile(std::string option, const std::string& why) : std::runtime_error(why), path(std::move(option)) {}
  std::string path;  // "learner.options.corpus"
};

// Each file is read once and each folder searched once, however many trials use them.
class FileHashes {
 public:
  // SHA-256 of files, by path: the plugin files of env and learner ("env.plugin"), the data files that their options name
  // ("learner.options.corpus"), and the files of a command ("learner.command.1", "learner.files.0"). A folder stands for the
  // regular files directly in it, by name and content. Further files that such a file uses have one hash together, by their
  // names and contents:
  //   PATH/references  the files that an XML file names (xml_files.hpp)
  //   PATH/modules     the Python files below the folder of a Python file (python_files.hpp), unless the files are listed
  // A file that uses no other has no such entry. Throws std::runtime_error if one cannot be read, NoDataFile as above.
  //   learner.start_from  the learner's state in the checkpoint, or the whole file of arrays
  std::map<std::string, std::string> Of(const LoadedExperiment& loaded);
  // The results folder with copies of policies whose source has vanished; empty: output.dir. Without this call, such a source
  // is an error.
  void KeptIn(std::filesystem::path out) { kept_in_ = std::move(out); }

 private:
  using Hashes = std::map<std::string, std::string>;
  const std::string& Hash(const std::filesystem::path& file);
  // `listed`: options around these list the files that Python files use.
  void AddData(const PluginInfo& info, const nlohmann::json& options, const std::string& prefix, bool listed, Hashes* hashes);
  // Returns the last key that may list files; empty if the plugin has none.
  std::string AddFileLists(const PluginInfo& info, const nlohmann::json& options, const std::string& prefix, Hashes* hashes);
  void AddFile(const std::string& place, const std::string& file, Hashes* hashes);
  void AddFilesOf(const CommandConfig& command, Hashes* hashes);
  void AddStart(const Experiment& experiment, Hashes* hashes);
  void AddReferences(const std::string& place, const std::string& file, Hashes* hashes);
  // `list_in` is the key that may list the files instead.
  void AddModules(const std::string& place, const std::string& file, const std::string& list_in, Hashes* hashes);

  std::optional<std::filesystem::path> kept_in_;
  std::map<std::string, std::string> starts_;  // by learner.start_from
  std::map<std::filesystem::path, std::string> known_;
  std::map<std::filesystem::path, std::string> references_;  // by the XML file; empty: it names none
  std::map<std::filesystem::path, Hashes> modules_;          // by folder; each file's hash
  std::map<std::filesystem::path, std::string> modules_of_;  // by the Python file; empty: there are no others
};

}  // namespace backplane
