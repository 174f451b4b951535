#include <fmt/format.h>

#include "arguments/tool_commands.hpp"
#include "author/commands.hpp"
#include "log/log.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct SdkArgs {
  bool cmakedir = false, includedir = false;
};

int PrintPlaces(const SdkArgs& args) {
  const fs::path cmake = OwnPrefix() / "lib/cmake/backplane", include = OwnPrefix() / "include";
  if (!fs::exists(cmake / "backplaneConfig.cmake")) {
    LogError(
        "backplane sdk: expected an installation or a build, got {} without lib/cmake/backplane\n"
        "hint: in a clone, `scripts/install` makes one",
        OwnPrefix().string());
    return kFailed;
  }
  if (args.cmakedir) fmt::print("{}\n", cmake.string());
  if (args.includedir) fmt::print("{}\n", include.string());
  if (!args.cmakedir && !args.includedir) fmt::print("CMake    {}\nheaders  {}\n", cmake.string(), include.string());
  return kOk;
}

}  // namespace

Command SdkCommand() {
  const auto declare = [](SdkArgs* args, Arguments* add) {
    const Argument cmake = add->Flag("--cmakedir", &args->cmakedir, "Only the folder for -Dbackplane_DIR or CMAKE_PREFIX_PATH");
    add->Flag("--includedir", &args->includedir, "Only the folder for the compiler's -I").Excludes(cmake);
  };
  return MakeCommand<SdkArgs>(kSdkCommand.name, kSdkCommand.help, declare, PrintPlaces);
}

}  // namespace backplane
