// The commands of `backplane` that tools carry out. These tools are installed with it.
#pragma once

#include "arguments/command.hpp"

namespace backplane {

struct ToolCommand {
  const char* name;
  const char* tool;  // the program is backplane-TOOL
  const char* help;
};

inline constexpr ToolCommand kNewCommand = {
    "new", "author",
    "Begin a plugin: write a folder NAME with code, tests and an experiment, which builds and trains as it is"};
inline constexpr ToolCommand kSdkCommand = {"sdk", "author", "Print the folders of the headers and the CMake package"};

}  // namespace backplane
