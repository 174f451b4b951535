// The command line of a tool's program, such as backplane-author.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "arguments/parse.hpp"
#include "base/standard_descriptors.hpp"

namespace backplane {

// `about`: one line for `--about`, which `backplane help` shows.
inline CommandLine ToolLine(int argc, char** argv, std::string about, std::string version) {
  OpenStandardDescriptors();
  CommandLine line;
  line.program = TypedHost(argc, argv);
  line.words = TypedWords(argc, argv);
  line.about = std::move(about), line.version = std::move(version);
  return line;
}

inline int RunToolLine(const CommandLine& line) {
  if (line.words == std::vector<std::string>{"--about"}) return std::puts(line.about.c_str()) < 0;
  return RunCommandLine(line);
}

}  // namespace backplane
