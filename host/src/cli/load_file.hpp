// Loads an experiment file for a command and prints what is wrong with it.
#pragma once

#include <cstdio>
#include <optional>

#include "cli/commands.hpp"
#include "cli/plugin_search.hpp"

namespace backplane {

// Absent after every error was printed to stderr; the command then ends with kUsage, and nothing was started.
inline std::optional<LoadedExperiment> LoadOrComplain(const FileArgs& args, PluginSearch* search) {
  LoadResult result = LoadExperiment(args.file, {args.set, search->Lookup()});
  for (const Diagnostic& error : result.errors) {
    const std::string text = Format(error);
    std::fprintf(stderr, "%s%s", text.c_str(), text.ends_with('\n') ? "" : "\n");
  }
  if (!result.errors.empty()) {
    std::fprintf(stderr, "%zu %s in %s; nothing was started\n", result.errors.size(),
                 result.errors.size() == 1 ? "error" : "errors", args.file.c_str());
    return std::nullopt;
  }
  for (const std::string& note : result.loaded->notes) {
    std::fprintf(stderr, "%s\n", note.c_str());
  }
  return std::move(result.loaded);
}

}  // namespace backplane
