// `gate save`: what later states are held against.
#pragma once

#include <filesystem>
#include <string>

#include "record/gate_baseline.hpp"

namespace backplane {

struct GateSaveArgs {
  std::filesystem::path out, to;
  std::string typed_program;
  bool no_plugins = false;
};
int GateSave(const GateSaveArgs& args);

// Why the plugin files of this baseline cannot be run; empty: they lie where `gate save` keeps them.
std::string WhyNotKept(const std::filesystem::path& file, const GateBaseline& baseline);

}  // namespace backplane
