// Loads a plugin file into this process. Only the trial process does so, and it never unloads (docs/architecture.md).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "backplane/module.h"
#include "plugin/plugin_error.hpp"

namespace backplane {

// Loads LibTorch from `lib_dir` (…/torch/lib) before any plugin, so that exactly one copy serves the process. Returns its
// version ("2.13.0+cpu", read from the version file next to it). Throws PluginError.
std::string PreloadTorch(const std::filesystem::path& lib_dir);
// The same version without loading it; empty if there is none.
std::string TorchVersionAt(const std::filesystem::path& lib_dir);
// The folder of LibTorch: BACKPLANE_TORCH_LIB, else the folder in the installation's lib/backplane/torch.json if it has
// libtorch.so, else the folder of `backplane setup torch`. Empty: not found.
std::filesystem::path FindTorchLib();

// Opens the file permanently with RTLD_NOW | RTLD_LOCAL and returns its module, without prior checks. Throws PluginError.
const bp_module& OpenModule(const std::filesystem::path& file);

class LoadedModule {
 public:
  // Checks the metadata section, then opens the file with RTLD_NOW | RTLD_LOCAL. `torch_version`: of the preloaded LibTorch,
  // empty if none. Throws PluginError with a separate message for each cause.
  static std::unique_ptr<LoadedModule> Load(const std::filesystem::path& file, const std::string& torch_version);

  // Plugins that are linked into the program itself (embedding, tests), or a table in front of a file's. The module must live
  // as long as the process.
  static std::unique_ptr<LoadedModule> FromTable(const bp_module& module, std::filesystem::path file = "/proc/self/exe");

  const bp_descriptor& descriptor(const std::string& id) const;  // throws PluginError
  // The function table of `id`; Api is bp_env_api, bp_learner_api or bp_monitor_api. Throws PluginError.
  template <class Api>
  const Api* api(const std::string& id) const {
    return static_cast<const Api*>(RawApi(id));
  }
  const std::filesystem::path& file() const { return file_; }
  const bp_module& module() const { return *module_; }

 private:
  LoadedModule() = default;
  const void* RawApi(const std::string& id) const;

  std::filesystem::path file_;
  const bp_module* module_ = nullptr;
};

}  // namespace backplane
