// The options of an env that is written in Python.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "backplane/plugin.hpp"

namespace backplane::python_env {

struct Options {
  // Throws bp::Error (BP_E_CONFIG) unless the options name exactly one env.
  void Check(const bp::Config& config) {
    vector.empty() ? CheckRows(config) : CheckVector(config);
    if (!python.empty()) return;
    const char* const active = std::getenv("VIRTUAL_ENV");
    python = active != nullptr && *active != '\0' ? std::string(active) + "/bin/python" : "python3";
  }

  void CheckRows(const bp::Config& config) const {
    if (id.empty() == file.empty())
      throw bp::ConfigError(id.empty()
                                ? "expected the env's `id`, or `file` and `class`, got neither"
                                : "expected the env's `id`, or `file` and `class`, got both (" + config.Where("file") + ")");
    if (file.empty() != class_name.empty())
      throw bp::ConfigError(file.empty() ? "`class` (" + config.Where("class") + "): expected `file` with this class, got none"
                                         : "`file` (" + config.Where("file") + "): expected `class`, the env in it, got none");
  }

  // A vector env steps all rows of the trial in one call.
  void CheckVector(const bp::Config& config) const {
    const std::string place = "`vector` (" + config.Where("vector") + "): ";
    if (!id.empty() || !class_name.empty())
      throw bp::ConfigError(place + "expected neither `id` nor `class`, got `" + (id.empty() ? "class" : "id") + "` (" +
                            config.Where(id.empty() ? "class" : "id") + ")");
    if (num_env_runners != 1)
      throw bp::ConfigError(place + "expected rollout.num_env_runners: 1, because all rows are one batch, got " +
                            std::to_string(num_env_runners));
    if (chunk_rows != 0 && chunk_rows != num_envs_per_env_runner)
      throw bp::ConfigError(place + "expected rollout.chunk_rows: auto or " + std::to_string(num_envs_per_env_runner) +
                            ", because all rows are one batch, got " + std::to_string(chunk_rows));
  }

  nlohmann::json Request(const char* kind) const {
    return {{"kind", kind},
            {"id", id},
            {"file", file.string()},
            {"class", class_name},
            {"vector", vector},
            {"kwargs", nlohmann::json::parse(kwargs.json)},
            {"wrappers", nlohmann::json::parse(wrappers.json)}};
  }

  std::string id, class_name, vector, python;
  std::filesystem::path file;
  bp::AnyValue kwargs, wrappers{"[]"}, files{"[]"};
  double timeout = 60;
  int64_t num_env_runners = 1, num_envs_per_env_runner = 1, chunk_rows = 0;  // the host's; 0: auto
};

// Options of every such env, after `id` and `file`.
inline constexpr bp::OptionTable kOptionsOfAll{
    bp::Opt("class", &Options::class_name, "The class in `file` that is the env."),
    bp::Opt("files", &Options::files, "paths",
            "Files that the env uses; their content is part of the identity. Default: all `*.py` below the folder of `file`.",
            {.flags = BP_PARAM_DATA | BP_PARAM_LATER}),
    bp::Opt("kwargs", &Options::kwargs, "mapping", "Arguments of the env's constructor."),
    bp::Opt("wrappers", &Options::wrappers, "list",
            "Wrappers, innermost first, as `NAME` or `{NAME: {argument: value}}`. NAME is `module:Class`, a class of `file`, "
            "or a wrapper of the library."),
    bp::Opt("python", &Options::python,
            "Interpreter of the env processes; empty: the active virtual environment's, else python3."),
    bp::Opt("timeout", &Options::timeout, "(0,86400]", "Time limit of a reset or step of all rows; a start has at least 120 s.",
            {.unit = "s"}),
};

}  // namespace backplane::python_env
