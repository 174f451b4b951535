// Group, examples and docs page of each command, for --help and the generated reference.
#pragma once

#include <string_view>

namespace backplane {

struct CommandPage {
  std::string_view command;
  std::string_view group;  // heading in `backplane --help`; empty: hidden, or a command below another
  std::string_view examples[2];
  std::string_view page;  // of docs/
};

inline constexpr std::string_view kCommandGroups[] = {"Run", "Compare", "Inspect", "Write plugins", "Set up", "Tools"};

inline constexpr CommandPage kCommandPages[] = {
    {"backplane", "", {"backplane run configs/quickstart.yaml", "backplane help sweep"}, "commands.md"},
    {"run",
     "Run",
     {"backplane run configs/quickstart.yaml", "backplane run FILE -s learner.options.lr=1e-3 --dry-run"},
     "experiments.md"},
    {"status", "Run", {"backplane status outputs/NAME", "backplane status outputs/NAME --json"}, "experiments.md"},
    {"watch", "Run", {"backplane watch outputs/NAME", "backplane watch outputs/NAME --html"}, "reports.md"},
    {"stop", "Run", {"backplane stop outputs/NAME", "backplane stop outputs/NAME --now"}, "experiments.md"},
    {"config", "Run", {"backplane config check FILE", "backplane config show --resolved FILE"}, "experiment-file.md"},
    {"config check", "", {"backplane config check FILE", "backplane config check FILE -s seed=1"}, "experiment-file.md"},
    {"config show", "", {"backplane config show --resolved FILE", "backplane config show --origin FILE"}, "experiment-file.md"},
    {"config schema",
     "",
     {"backplane config schema > schema.json", "backplane config schema --markdown"},
     "experiment-file.md"},
    {"compare",
     "Compare",
     {"backplane compare A.yaml B.yaml", "backplane compare outputs/A outputs/B --margin 5%"},
     "comparisons.md"},
    {"gate",
     "Compare",
     {"backplane gate base.json FILE --fail-if 'eval/return < -5%'",
      "backplane gate base.json outputs/NAME --fail-if 'SPS < -10%'"},
     "comparisons.md"},
    {"gate save",
     "",
     {"backplane gate save outputs/NAME --to base.json", "backplane gate save outputs/NAME --to base.json --no-plugins"},
     "comparisons.md"},
    {"bench", "Compare", {"backplane bench FILE", "backplane bench FILE --batch=1,4,16"}, "performance.md"},
    {"tune", "Compare", {"backplane tune FILE --budget 10m", "backplane tune FILE --for SPS --dry-run"}, "tuning.md"},
    {"report", "Inspect", {"backplane report outputs/NAME", "backplane report --explain list"}, "reports.md"},
    {"export", "Inspect", {"backplane export csv outputs/NAME", "backplane export tb outputs/NAME"}, "reports.md"},
    {"export csv", "", {"backplane export csv outputs/NAME", "backplane export csv outputs/NAME > trials.csv"}, "reports.md"},
    {"export tb", "", {"backplane export tb outputs/NAME", "tensorboard --logdir outputs/NAME/tb"}, "reports.md"},
    {"export optuna",
     "",
     {"backplane export optuna outputs/NAME", "optuna-dashboard outputs/NAME/optuna.journal"},
     "search.md"},
    {"export policy",
     "",
     {"backplane export policy outputs/NAME --to policy",
      "backplane export policy outputs/NAME TRIAL --checkpoint best --to DIR"},
     "policies.md"},
    {"export sqlite",
     "",
     {"backplane export sqlite outputs/NAME --to copy.sqlite", "sqlite3 copy.sqlite 'select * from trials'"},
     "reports.md"},
    {"evaluate",
     "Inspect",
     {"backplane evaluate outputs/NAME --episodes 1000", "backplane evaluate outputs/NAME TRIAL -s env.options.KEY=VALUE"},
     "evaluate.md"},
    {"inspect",
     "Inspect",
     {"backplane inspect outputs/NAME TRIAL --iteration 37 --row 5 --step 120",
      "backplane inspect outputs/NAME --iteration 1 --dump rollout.npz"},
     "evaluate.md"},
    {"render",
     "Inspect",
     {"backplane render outputs/NAME", "backplane render outputs/NAME TRIAL --episode worst"},
     "experiments.md"},
    {"replay",
     "Inspect",
     {"backplane replay outputs/NAME TRIAL", "backplane replay outputs/NAME TRIAL --gdb"},
     "development.md"},
    {"store", "Inspect", {"backplane store rebuild outputs/NAME", "backplane help store rebuild"}, "architecture.md"},
    {"store rebuild",
     "",
     {"backplane store rebuild outputs/NAME", "sqlite3 outputs/NAME/results.sqlite 'select * from trials'"},
     "architecture.md"},
    {"pack",
     "Inspect",
     {"backplane pack outputs/NAME", "backplane pack outputs/NAME --to NAME.zip --checkpoints none"},
     "archives.md"},
    {"unpack", "Inspect", {"backplane unpack NAME.zip", "backplane unpack NAME.zip --to outputs/NAME"}, "archives.md"},
    {"verify", "Inspect", {"backplane verify NAME.zip", "backplane verify outputs/NAME"}, "archives.md"},
    {"gc",
     "Inspect",
     {"backplane gc outputs/NAME --keep last", "backplane gc outputs/NAME --keep last --dry-run"},
     "archives.md"},
    {"plugin", "Write plugins", {"backplane plugin list", "backplane plugin describe ID"}, "plugins.md"},
    {"plugin list", "", {"backplane plugin list", "backplane plugin list --json"}, "plugins.md"},
    {"plugin describe", "", {"backplane plugin describe ID", "backplane plugin describe ID --markdown"}, "plugins.md"},
    {"plugin seal",
     "",
     {"backplane plugin seal build/env_my_task.so", "backplane plugin seal A.so --part A_b.so"},
     "plugin-guide.md"},
    {"plugin validate",
     "",
     {"backplane plugin validate build/env_my_task.so", "backplane plugin validate ID --only-failed"},
     "plugin-guide.md"},
    {"new", "Write plugins", {"backplane new env my_task", "backplane new learner my_learner"}, "plugin-guide.md"},
    {"dev",
     "Write plugins",
     {"backplane dev build/env_my_task.so FILE", "backplane dev build/env_my_task.so FILE --out outputs/dev"},
     "guide/dev.md"},
    {"sdk",
     "Write plugins",
     {"backplane sdk", "cmake -B build -Dbackplane_DIR=$(backplane sdk --cmakedir)"},
     "plugin-guide.md"},
    {"setup", "Set up", {"backplane setup torch", "backplane setup torch --help"}, "installation.md"},
    {"setup torch", "", {"backplane setup torch", "backplane setup torch --index-url URL"}, "installation.md"},
    {"doctor", "Set up", {"backplane doctor", "backplane doctor --json"}, "installation.md"},
    {"completion", "Set up", {"source <(backplane completion bash)", "backplane completion fish | source"}, "commands.md"},
    {"run-trial",
     "",
     {"backplane run-trial OUT/trials/ID/trial.json", "backplane run-trial --check OUT/trials/ID/trial.json"},
     "architecture.md"},
};

constexpr const CommandPage* FindCommandPage(std::string_view command) {
  for (const CommandPage& page : kCommandPages)
    if (page.command == command) return &page;
  return nullptr;
}

}  // namespace backplane
