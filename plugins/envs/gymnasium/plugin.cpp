#include "python_env/options.hpp"
#include "python_env/python_env.hpp"

namespace backplane::python_env {

struct Gymnasium : PythonEnv {
  static constexpr bp::About kAbout{
      .id = "env.gymnasium",
      .version = "1.0.0",
      .summary = "Runs any Gymnasium env or vector env, or one from a Python file, in worker processes.",
      .flags = BP_FLAG_OWNS_TIME_LIMIT,
      .rows = 16};
  static constexpr bp::OptionTable kOptions{
      bp::Opt("id", &Options::id,
              "Name of a registered env, `LunarLander-v3`, or with the module that registers it, `ale_py:ALE/Pong-v5`."),
      bp::Opt(
          "file", &Options::file,
          "Python file with your own env, a class like `gymnasium.Env`, instead of `id`; its content belongs to the identity.",
          {.flags = BP_PARAM_DATA | BP_PARAM_PYTHON}),
      bp::Opt("vector", &Options::vector,
              "A gymnasium.vector.VectorEnv instead of `id` and `class`: a class of `file`, `module:Class`, or an id of "
              "gymnasium.make_vec. One env process steps all rows in one call. Rows are not exact for any number of threads, "
              "and a resume starts new episodes.",
              {.flags = BP_PARAM_LATER}),
      bp::Opt("num_env_runners", &Options::num_env_runners, "[1,)", "Must be 1 for `vector`",
              {.flags = BP_PARAM_LATER, .aliases = "rollout.num_env_runners"}),
      bp::Opt("num_envs_per_env_runner", &Options::num_envs_per_env_runner, "[1,)", "The rows of `vector`",
              {.flags = BP_PARAM_LATER, .aliases = "rollout.num_envs_per_env_runner"}),
      bp::Opt("chunk_rows", &Options::chunk_rows, "[0,)", "Must be all rows for `vector`; 0: auto",
              {.flags = BP_PARAM_LATER, .aliases = "rollout.chunk_rows"}),
      kOptionsOfAll};

  Gymnasium(const bp_host* host, const Options& options, uint64_t rows)
      : PythonEnv(host, options.python, options.timeout, options.Request(options.vector.empty() ? "gymnasium" : "vector"),
                  rows) {}
};

}  // namespace backplane::python_env

BP_PLUGINS(bp::EnvBatch<backplane::python_env::Gymnasium>);
