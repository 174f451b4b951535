#include "python_env/options.hpp"
#include "python_env/python_env.hpp"

namespace backplane::python_env {

struct PettingZoo : PythonEnv {
  static constexpr bp::About kAbout{
      .id = "env.pettingzoo",
      .version = "1.0.0",
      .summary = "Runs any Parallel env of PettingZoo, or one from a Python file, in worker processes.",
      .flags = BP_FLAG_OWNS_TIME_LIMIT,
      .rows = 16};
  static constexpr bp::OptionTable kOptions{
      bp::Opt("id", &Options::id, "Module with `parallel_env`: `pettingzoo.sisl.pursuit_v5`."),
      bp::Opt("file", &Options::file,
              "Python file with your own env, a class like `pettingzoo.ParallelEnv`, instead of `id`; its content belongs to "
              "the identity.",
              {.flags = BP_PARAM_DATA | BP_PARAM_PYTHON}),
      kOptionsOfAll};

  PettingZoo(const bp_host* host, const Options& options, uint64_t rows)
      : PythonEnv(host, options.python, options.timeout, options.Request("pettingzoo"), rows) {}
};

}  // namespace backplane::python_env

BP_PLUGINS_SINCE(2, bp::EnvBatch<backplane::python_env::PettingZoo>);  // groups of agents
