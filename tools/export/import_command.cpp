// import policy: lets a Python program write a policy of another program as a file for learner.start_from.
#include <filesystem>
#include <string>

#include "arguments/python_exit.hpp"
#include "arguments/tool_commands.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "export/commands.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kImportLimit{10};

struct ImportArgs {
  fs::path source, to;
  std::string statistics, activation;
  bool without_critic = false;
};

int ImportPolicy(const ImportArgs& args) {
  ProcessCall call{{FindPython(), BesideProgram("backplane-import-policy.py").string(), args.source.string(), args.to.string(),
                    args.statistics, args.activation, args.without_critic ? "none" : "critic"}};
  call.shows_output = true, call.limit = kImportLimit;
  return ExitOfPython(kImportPolicyCommand.name, call, RunProcess(call));
}

}  // namespace

Command ImportPolicyCommand() {
  const auto declare = [](ImportArgs* args, Arguments* add) {
    add->Add("source", "SOURCE", &args->source, "A .npz, a .zip of Stable-Baselines3, or a state dict of CleanRL").Required();
    add->Add("--to", "FILE", &args->to, "File to write, a .npz for learner.start_from").Required();
    add->Add("--statistics", "FILE|none", &args->statistics,
             "Statistics that normalized the observations, as .npz; none if they were not normalized");
    add->Add("--activation", "tanh|relu", &args->activation, "Activation function, if SOURCE does not contain it");
    add->Flag("--without-critic", &args->without_critic, "Leave out the critic, which then starts untrained");
    add->Check([args] {
      const std::string& word = args->activation;
      return word.empty() || word == "tanh" || word == "relu" ? "" : "--activation: expected tanh or relu, got '" + word + "'";
    });
  };
  return MakeCommand<ImportArgs>(kImportPolicyCommand.name, kImportPolicyCommand.help, declare, ImportPolicy);
}

}  // namespace backplane
