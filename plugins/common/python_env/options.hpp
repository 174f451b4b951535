// The options of an env that is written in Python.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "backplane/plugin.hpp"

namespace backplane::python_env {

enum class OnError { kRaise, kEndEpisode };
constexpr auto WordsOf(OnError) {
  return bp::Words<OnError>({{"raise", OnError::kRaise}, {"end_episode", OnError::kEndEpisode}});
}

enum class Observations { kFlat, kNamed };
constexpr auto WordsOf(Observations) {
  return bp::Words<Observations>({{"flat", Observations::kFlat}, {"named", Observations::kNamed}});
}
enum class OutOfBounds { kReport, kError };
constexpr auto WordsOf(OutOfBounds) {
  return bp::Words<OutOfBounds>({{"report", OutOfBounds::kReport}, {"error", OutOfBounds::kError}});
}

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
    if (on_error != OnError::kRaise)
      throw bp::ConfigError(place + "expected on_error: raise, because all rows step together, got end_episode (" +
                            config.Where("on_error") + ")");
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
            {"wrappers", nlohmann::json::parse(wrappers.json)},
            {"observations", observations == Observations::kNamed ? "named" : "flat"},
            {"on_error", on_error == OnError::kRaise ? "raise" : "end_episode"},
            {"out_of_bounds", out_of_bounds == OutOfBounds::kError ? "error" : "report"}};
  }

  std::string id, class_name, vector, python;
  std::filesystem::path file;
  bp::AnyValue kwargs, wrappers{"[]"}, files{"[]"};
  OnError on_error = OnError::kRaise;
  double timeout = 60;
  Observations observations = Observations::kFlat;
  OutOfBounds out_of_bounds = OutOfBounds::kReport;
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
    bp::Opt("on_error", &Options::on_error,
            "Effect of an exception in a step, or of numbers that are not finite: the trial ends, or only the row's episode, "
            "truncated; `ep/error` then measures the share of such episodes.",
            {.flags = BP_PARAM_LATER}),
    bp::Opt("python", &Options::python,
            "Interpreter of the env processes; empty: the active virtual environment's, else python3."),
    bp::Opt("timeout", &Options::timeout, "(0,86400]", "Time limit of a reset or step of all rows; a start has at least 120 s.",
            {.unit = "s"}),
    bp::Opt("observations", &Options::observations,
            "flat: the parts of a Dict or Tuple as one vector, in the order of the space; named: a channel per part, for "
            "learners that "
            "accept several",
            {.flags = BP_PARAM_LATER}),
    bp::Opt("out_of_bounds", &Options::out_of_bounds,
            "Observations outside their space: report counts them and reports the first; error ends the trial",
            {.flags = BP_PARAM_LATER}),
};

}  // namespace backplane::python_env
