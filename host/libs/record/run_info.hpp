// run.json: on which machine a batch ran, with which versions, and how it was called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/imported_runs.hpp"
#include "record/trial_result.hpp"

namespace backplane {

inline constexpr int kPlanSchema = 3;  // of the trials' identities; before 3, the budget belonged to all of them

struct HostInfo {
  std::string hostname, kernel, cpu;
  std::string cpu_flags;  // those that libraries of numerics choose their code by
  uint64_t granted_cores = 0, memory_bytes = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("hostname", DefaultIfMissing(self.hostname));
    visit("kernel", DefaultIfMissing(self.kernel));
    visit("cpu", DefaultIfMissing(self.cpu));
    visit("cpu_flags", DefaultIfMissing(self.cpu_flags));
    visit("granted_cores", DefaultIfMissing(self.granted_cores));
    visit("memory_bytes", DefaultIfMissing(self.memory_bytes));
  }
};

// A GPU that the supervisor sees.
struct DeviceInfo {
  std::string name;
  uint64_t memory_bytes = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("memory_bytes", self.memory_bytes);
  }
};

struct RunVersions {
  std::string backplane, compiler, torch;
  std::map<std::string, std::string> plugins;  // by id

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("backplane", DefaultIfMissing(self.backplane));
    visit("compiler", DefaultIfMissing(self.compiler));
    visit("torch", DefaultIfMissing(self.torch));
    visit("plugins", DefaultIfMissing(self.plugins));
  }
};

// An option that helps against a finding, as its plugin declares it (bp_param.helps).
struct OptionHelp {
  std::string finding;      // id
  std::string path;         // "learner.options.minibatch_size"
  int direction = 0;        // 1 raise it, -1 lower it, 0 switch it on
  std::string type, range;  // as printed by `plugin describe`
  std::string plugin = "";  // kind and name in the configuration: "learner.NAME"; empty: unknown or any

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("finding", self.finding);
    visit("plugin", self.plugin);
    visit("path", self.path);
    visit("direction", self.direction);
    visit("type", self.type);
    visit("range", self.range);
  }
};

// Command-line options other than overrides.
struct TypedArguments {
  std::string preset;
  std::vector<std::string> plugin_path;
  std::string out, skip_invalid, jobs, gpus;  // as text; skip_invalid: "yes"
  std::string command;                        // the full command if the folder is not enough to resume, as for a gate

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("preset", DefaultIfMissing(self.preset));
    visit("plugin_path", DefaultIfMissing(self.plugin_path));
    visit("out", DefaultIfMissing(self.out));
    visit("skip_invalid", LeftOutIfEmpty(self.skip_invalid));
    visit("jobs", LeftOutIfEmpty(self.jobs));
    visit("gpus", LeftOutIfEmpty(self.gpus));
    visit("command", LeftOutIfEmpty(self.command));
  }
};

struct RunInfo {
  int schema = kTrialSchema;
  int plan_schema = 2;                    // kPlanSchema when the folder began; 2 in files of older versions
  std::optional<Budget> schedule_budget;  // that the learners' schedules read, unless the sweep names budgets
  HostInfo host;
  std::vector<DeviceInfo> devices;
  RunVersions versions;
  std::vector<OptionHelp> helps;
  std::filesystem::path config_file;
  std::string preset;
  std::vector<std::string> set, sweep;      // how the file was overridden
  std::map<std::string, std::string> whys;  // the file's reasons for axes of its sweep, by path
  std::optional<TypedArguments> arguments;
  std::optional<ImportedRuns> imported;  // absent: they ran here

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("schema", DefaultIfMissing(self.schema));
    visit("plan_schema", DefaultIfMissing(self.plan_schema));
    visit("schedule_budget", self.schedule_budget);
    visit("host", DefaultIfMissing(self.host));
    visit("devices", DefaultIfMissing(self.devices));
    visit("versions", DefaultIfMissing(self.versions));
    visit("helps", DefaultIfMissing(self.helps));
    visit("config_file", DefaultIfMissing(self.config_file));
    visit("preset", DefaultIfMissing(self.preset));
    visit("set", DefaultIfMissing(self.set));
    visit("sweep", DefaultIfMissing(self.sweep));
    visit("whys", LeftOutIfEmpty(self.whys));
    visit("arguments", NullIfAbsent(self.arguments));
    visit("imported", self.imported);
  }
};

}  // namespace backplane
