#include <fmt/format.h>

#include "arguments/tool_commands.hpp"
#include "author/commands.hpp"
#include "log/log.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct SdkArgs {
  bool cmakedir = false, includedir = false, sharedir = false, cflags = false;
};

int PrintPlaces(const SdkArgs& args) {
  const fs::path cmake = OwnPrefix() / "lib/cmake/backplane", include = OwnPrefix() / "include", share = OwnShare();
  if (!fs::exists(cmake / "backplaneConfig.cmake")) {
    LogError(
        "backplane sdk: expected an installation or a build, got {} without lib/cmake/backplane\n"
        "hint: install Backplane's package again; in a clone, run scripts/install",
        OwnPrefix().string());
    return kFailed;
  }
  if (args.cmakedir) fmt::print("{}\n", cmake.string());
  if (args.includedir) fmt::print("{}\n", include.string());
  if (args.sharedir) fmt::print("{}\n", share.string());
  // As backplane_add_plugin builds a plugin: it exports one symbol, and its numbers do not depend on the processor.
  if (args.cflags)
    fmt::print("-shared -fPIC -O3 -ffp-contract=off -fno-gnu-unique -Wl,--version-script={}/plugin.version -I {}\n",
               cmake.string(), include.string());
  if (!args.cmakedir && !args.includedir && !args.sharedir && !args.cflags)
    fmt::print("CMake    {}\nheaders  {}\nfiles    {}\n", cmake.string(), include.string(), share.string());
  return kOk;
}

}  // namespace

Command SdkCommand() {
  const auto declare = [](SdkArgs* args, Arguments* add) {
    const Argument cmake =
        add->Flag("--cmakedir", &args->cmakedir, "Print only the folder for -Dbackplane_DIR or CMAKE_PREFIX_PATH");
    const Argument include =
        add->Flag("--includedir", &args->includedir, "Print only the folder for the compiler's -I").Excludes(cmake);
    const Argument share =
        add->Flag("--sharedir", &args->sharedir, "Print only the folder of configs, clients and build_corpus")
            .Excludes(cmake)
            .Excludes(include);
    add->Flag("--cflags", &args->cflags, "Print only the flags for g++ or gcc")
        .Excludes(cmake)
        .Excludes(include)
        .Excludes(share);
  };
  return MakeCommand<SdkArgs>(kSdkCommand.name, kSdkCommand.help, declare, PrintPlaces);
}

}  // namespace backplane
