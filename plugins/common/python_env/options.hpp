// The options of an env that is written in Python.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "backplane/plugin.hpp"

namespace backplane::python_env {

struct Options {
  // Throws bp::Error (BP_E_CONFIG) unless it is said once which env is meant.
  void Check(const bp::Config& config) {
    if (id.empty() == file.empty())
      throw bp::ConfigError(id.empty()
                                ? "wanted the env's `id`, or `file` and `class`, found neither"
                                : "wanted the env's `id`, or `file` and `class`, found both (" + config.Where("file") + ")");
    if (file.empty() != class_name.empty())
      throw bp::ConfigError(file.empty() ? "`class` (" + config.Where("class") + ") is a class of `file`, which is not given"
                                         : "`file` (" + config.Where("file") + ") wants the `class` in it that is the env");
    if (!python.empty()) return;
    const char* const active = std::getenv("VIRTUAL_ENV");
    python = active != nullptr && *active != '\0' ? std::string(active) + "/bin/python" : "python3";
  }

  nlohmann::json Request(const char* kind) const {
    return {{"kind", kind},
            {"id", id},
            {"file", file.string()},
            {"class", class_name},
            {"kwargs", nlohmann::json::parse(kwargs.json)},
            {"wrappers", nlohmann::json::parse(wrappers.json)}};
  }

  std::string id, class_name, python;
  std::filesystem::path file;
  bp::AnyValue kwargs, wrappers{"[]"}, files{"[]"};
  double timeout = 60;
};

// Of every such env, after its `id` and `file`.
inline constexpr bp::OptionTable kOptionsOfAll{
    bp::Opt("class", &Options::class_name, "The class in `file` that is the env."),
    bp::Opt("files", &Options::files, "paths",
            "Files that the env uses, whose content belongs to the identity; left out: all `*.py` below the folder of `file`.",
            {.flags = BP_PARAM_DATA | BP_PARAM_LATER}),
    bp::Opt("kwargs", &Options::kwargs, "mapping", "Arguments the env is made with."),
    bp::Opt("wrappers", &Options::wrappers, "list",
            "Wrappers, the innermost first: each a name or `{name: {argument: value}}`. Names: `module:Class`, a class of "
            "`file`, or a wrapper of the library."),
    bp::Opt("python", &Options::python,
            "Interpreter of the env processes; empty: the active virtual environment's, else python3."),
    bp::Opt("timeout", &Options::timeout, "(0,86400]",
            "The longest that a reset or a step of all rows may take; a start has 120 s at least.", {.unit = "s"}),
};

}  // namespace backplane::python_env
