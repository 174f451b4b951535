#include "python_learner.hpp"

namespace backplane::python_env {

class Plugin : public PythonLearner, public bp::LearnerPlugin<Plugin> {
 public:
  static constexpr bp::About kAbout{
      .id = "learner.python", .version = "1.0.0", .summary = "Runs a learner from a Python file, in a process of its own."};
  static constexpr bp::OptionTable kOptions{
      bp::Opt("file", &LearnerOptions::file, "Python file with the learner; its content belongs to the identity.",
              {.flags = BP_PARAM_REQUIRED | BP_PARAM_DATA | BP_PARAM_PYTHON}),
      bp::Opt("class", &LearnerOptions::class_name, "The class in `file` that is the learner.", {.flags = BP_PARAM_REQUIRED}),
      bp::Opt("files", &LearnerOptions::files, "paths",
              "Files that the learner uses; their content is part of the identity. Default: all `*.py` below the folder of "
              "`file`.",
              {.flags = BP_PARAM_DATA}),
      bp::Opt("kwargs", &LearnerOptions::kwargs, "mapping", "Arguments of the class, after the env."),
      bp::Opt("python", &LearnerOptions::python,
              "Interpreter of the learner's process; empty: the active virtual environment's, else python3."),
      bp::Opt("timeout", &LearnerOptions::timeout, "(0,86400]",
              "Time limit of each call; a start has at least 120 s. `resources.hang_timeout` limits a call, too.",
              {.unit = "s"}),
      bp::Opt("threads", &LearnerOptions::threads, "[1,1024]",
              "Threads of NumPy's and PyTorch's libraries. Sums may differ in the last bits between numbers of threads."),
      bp::Opt("uses_budget", &LearnerOptions::uses_budget,
              "Passes the progress and the budget, for schedules. A different budget then makes a different trial.",
              {.reads_budget = "true"}),
  };

  explicit Plugin(const bp::LearnerSetup& setup) : PythonLearner(setup, kOptions.Read(setup.config)) {}
};

}  // namespace backplane::python_env

BP_PLUGINS_SINCE(1, backplane::python_env::Plugin);
