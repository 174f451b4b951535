#include "python_env/options.hpp"
#include "python_env/python_env.hpp"

namespace backplane::python_env {

struct Gymnasium : PythonEnv {
  static constexpr bp::About kAbout{.id = "env.gymnasium",
                                    .version = "1.0.0",
                                    .summary = "Runs any Gymnasium env, or one from a Python file, in worker processes.",
                                    .flags = BP_FLAG_OWNS_TIME_LIMIT,
                                    .rows = 16};
  static constexpr bp::OptionTable kOptions{
      bp::Opt("id", &Options::id,
              "Name of a registered env, `LunarLander-v3`, or with the module that registers it, `ale_py:ALE/Pong-v5`."),
      bp::Opt(
          "file", &Options::file,
          "Python file with your own env, a class like `gymnasium.Env`, instead of `id`; its content belongs to the identity.",
          {.flags = BP_PARAM_DATA | BP_PARAM_PYTHON}),
      kOptionsOfAll};

  Gymnasium(const bp_host* host, const Options& options, uint64_t rows)
      : PythonEnv(host, options.python, options.timeout, options.Request("gymnasium"), rows) {}
};

}  // namespace backplane::python_env

BP_PLUGINS(bp::EnvBatch<backplane::python_env::Gymnasium>);
