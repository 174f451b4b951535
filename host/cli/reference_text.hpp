// Tables of the reference pages, as Markdown.
#pragma once

#include <string>

#include "plugin/plugin_info.hpp"

namespace backplane {

// The options of a plugin; of one without options a sentence.
std::string OptionsMarkdown(const PluginInfo& info);

// All keys of an experiment file.
std::string KeysMarkdown();

// Environment variables of programs and plugins, and exit codes of commands.
std::string EnvironmentMarkdown();
std::string ExitCodesMarkdown();

}  // namespace backplane
