#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "arguments/tool_commands.hpp"
#include "author/commands.hpp"
#include "base/python.hpp"
#include "log/log.hpp"
#include "plugin/loader.hpp"
#include "plugin/torch_folder.hpp"

namespace backplane {
namespace {

struct SetupTorchArgs {
  std::string index;
};

int SetUpTorch(const SetupTorchArgs& args) {
  const std::filesystem::path found = FindTorchLib(), own = OwnTorchFolder() / "torch/lib";
  std::error_code error;
  const bool is_own = found.empty() || found == own || std::filesystem::equivalent(found, own, error);
  if (!args.index.empty() && !is_own) {
    LogError(
        "backplane setup torch: --index-url: expected to replace the LibTorch in {}, got a different one in {}, which takes "
        "precedence\nhint: export BACKPLANE_TORCH_LIB=\"{}\"",
        own.string(), found.string(), own.string());
    return kUsage;
  }
  if (TorchVersionAt(found).starts_with(TorchRelease()) && args.index.empty()) {
    fmt::print("LibTorch {} is already in {}\n", TorchVersionAt(found), found.string());
    return kOk;
  }
  const std::string script = BesideProgram("backplane-setup-torch.py"), python = FindPython();
  std::vector<std::string> words = {python, script, TorchRelease(), OwnTorchFolder(), args.index};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(python.c_str(), argv.data());
  LogError("backplane setup torch: cannot start {}: {}\nhint: set BACKPLANE_PYTHON to a Python that has pip", python,
           std::strerror(errno));
  return kFailed;
}

}  // namespace

Command SetupTorchCommand() {
  const auto declare = [](SetupTorchArgs* args, Arguments* add) {
    add->Add("--index-url", "URL", &args->index,
             "Index of pip, such as PyTorch's for a CUDA build; replaces an installed build");
  };
  return MakeCommand<SetupTorchArgs>(kSetupTorchCommand.name, kSetupTorchCommand.help, declare, SetUpTorch);
}

}  // namespace backplane
