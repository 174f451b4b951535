// Writes a line per iteration to a CSV table for spreadsheets and pandas.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "backplane/monitor.hpp"

inline std::string Line(const bp::Iteration& iteration, const std::string& columns) {
  std::string line = std::to_string(iteration.number) + "," + std::to_string(iteration.env_steps);
  std::istringstream names(columns);
  for (std::string name; std::getline(names, name, ',');) {
    char number[32] = "";  // empty where the iteration has no such metric
    if (const auto value = iteration.Metric(name)) std::snprintf(number, sizeof number, "%.9g", *value);
    line += std::string(",") + number;
  }
  return line + "\n";
}

class IterationTable : public bp::MonitorPlugin<IterationTable> {
 public:
  static constexpr bp::About kAbout{
      .id = "monitor.template_cpp", .version = "1.0.0", .summary = "Writes a line per iteration to template_cpp.csv."};
  struct Options {
    std::string columns = "return,sps";
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("columns", &Options::columns, "Metrics by their names in metrics.jsonl, separated by commas."),
  };

  explicit IterationTable(const bp::MonitorSetup& setup)
      : MonitorPlugin(setup),
        columns_(kOptions.Read(setup.config).columns),
        name_(std::string(setup.Trial().attempt_dir) + "/template_cpp.csv") {}

  void OnIteration(const bp::Iteration& iteration) override {
    if (!iteration.ended) return;
    if (!table_.is_open()) {  // not earlier: the folder exists once the trial runs
      table_.open(name_);
      table_ << "iteration,env_steps," << columns_ << "\n";
    }
    table_ << Line(iteration, columns_) << std::flush;  // so that readers can follow and a crash loses no line
    if (!table_) throw bp::Error(BP_E_IO, "cannot write " + name_);
  }

 private:
  const std::string columns_, name_;
  std::ofstream table_;
};

BP_PLUGINS(IterationTable);
