// Description of a plugin from its metadata section; no plugin code has run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "backplane/module.h"

namespace backplane {

struct OptionInfo {
  std::string path;
  uint16_t type = 0;                 // BP_PARAM_*
  uint16_t flags = 0;                // BP_PARAM_REQUIRED, ...
  std::optional<std::string> def;    // YAML text
  std::optional<std::string> range;  // "(0,1]", "[1,)", "a|b"
  std::string unit, doc;
  std::vector<std::string> aliases, helps;
  std::string reads_budget;  // values with which a learner reads its budget: "linear", "(0,1)", "*"; empty: none
};

// Name of a BP_PARAM_* for messages: "integer".
inline const char* OptionTypeName(uint16_t type) {
  static constexpr const char* kNames[] = {"?",    "number",          "integer",          "bool",     "text", "choice",
                                           "path", "list of numbers", "list of integers", "structure"};
  return type < std::size(kNames) ? kNames[type] : kNames[0];
}

// A library that a plugin requests from its host, as sealed with the plugin.
struct PartInfo {
  std::string name, file;  // "torch", "learner_ppo_torch.so" next to the plugin
  std::string sha256;      // of the file
  bool operator==(const PartInfo&) const = default;
};

struct BuildFacts {
  std::string compiler, torch, mujoco, sanitizer;
  std::optional<int> cxx11abi;  // absent for a plugin written in C
  bool debug = false;
};

struct PluginInfo {
  uint32_t kind = 0;  // BP_KIND_*
  std::string id, version, summary, license;
  uint64_t flags = 0;  // BP_FLAG_*
  std::vector<std::string> needs;
  std::vector<OptionInfo> options;
  std::vector<std::string> aliases;  // other names in experiment files
  uint64_t rows = 0;                 // envs: of a trial whose experiment sets none; 0: 1
  std::vector<PartInfo> parts;       // of the plugin's file
  uint32_t abi_major = 0, abi_minor = 0, abi_min_minor = 0;
  BuildFacts build;
  std::filesystem::path file;  // absolute

  // "name" of "env.name": the name in experiment files.
  std::string short_id() const { return id.substr(id.find('.') + 1); }
};

// "env", "learner", "monitor", "part".
inline const char* KindName(uint32_t kind) {
  static constexpr const char* kNames[] = {"unknown", "env", "learner", "monitor", "part"};
  return kind < std::size(kNames) ? kNames[kind] : kNames[0];
}

}  // namespace backplane
