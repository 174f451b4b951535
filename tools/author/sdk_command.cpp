#include <fmt/format.h>

#include <vector>

#include "arguments/command.hpp"
#include "log/log.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct SdkArgs {
  bool cmakedir = false, includedir = false;
};

int SdkCommand(const SdkArgs& args) {
  const fs::path cmake = OwnPrefix() / "lib/cmake/backplane", include = OwnPrefix() / "include";
  if (!fs::exists(cmake / "backplaneConfig.cmake")) {
    LogError(
        "backplane sdk: wanted an installation, found {} without lib/cmake/backplane; `cmake --install` makes one of a build",
        OwnPrefix().string());
    return kFailed;
  }
  if (args.cmakedir) fmt::print("{}\n", cmake.string());
  if (args.includedir) fmt::print("{}\n", include.string());
  if (!args.cmakedir && !args.includedir) fmt::print("CMake    {}\nheaders  {}\n", cmake.string(), include.string());
  return kOk;
}

}  // namespace

std::vector<Command> SdkCommands() {
  const auto declare = [](SdkArgs* args, Arguments* add) {
    const Argument cmake = add->Flag("--cmakedir", &args->cmakedir, "Only the folder for -Dbackplane_DIR or CMAKE_PREFIX_PATH");
    add->Flag("--includedir", &args->includedir, "Only the folder for the compiler's -I").Excludes(cmake);
  };
  return {
      MakeCommand<SdkArgs>("sdk", "Say where headers and CMake package for plugins and embedding lie", declare, SdkCommand)};
}

}  // namespace backplane
