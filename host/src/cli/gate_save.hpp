// `gate save`: what later states are held against.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

struct GateSaveArgs {
  std::filesystem::path out, to;
  std::string typed_program;
  bool no_plugins = false;
};
int GateSave(const GateSaveArgs& args);

}  // namespace backplane
