#include "figures/gnuplot_figure.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "base/file_name.hpp"
#include "base/files.hpp"
#include "figures/figure_text.hpp"
#include "figures/gnuplot_process.hpp"
#include "figures/gnuplot_script.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

void CheckName(const std::string& name) {
  if (!IsFileName(name)) {
    throw std::runtime_error("the name of a figure should be a plain file name, found '" + OneLine(name) + "'");
  }
}

// gnuplot shows where in the script it stopped; the sentence is the line that says why.
std::string Reason(const std::string& said) {
  std::istringstream lines(said);
  std::string reason;
  for (std::string line; std::getline(lines, line);) {
    if (const size_t start = line.find_first_not_of(" \t^"); start != std::string::npos) reason = line.substr(start);
  }
  return OneLine(reason.empty() ? "it said nothing" : reason);
}

bool HasContent(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return !error && size > 0;
}

}  // namespace

std::string DrawWithGnuplot(const Figure& figure, const fs::path& folder) {
  CheckName(figure.name);
  const fs::path beside = folder / "figures", drawn = beside / (figure.name + ".png"), wanted = folder / (figure.name + ".png");
  fs::create_directories(beside);
  fs::remove(wanted);
  fs::remove(drawn);
  ReplaceFile(beside / (figure.name + ".csv"), GnuplotCsv(figure));
  ReplaceFile(beside / (figure.name + ".gp"), GnuplotScript(figure));
  const GnuplotRun run = RunGnuplot({"./" + figure.name + ".gp"}, beside);
  if (run.ok && HasContent(drawn)) {
    fs::rename(drawn, wanted);
    return "";
  }
  fs::remove(drawn);
  const std::string no_png = "no " + figure.name + ".png: ";
  return run.started ? no_png + "gnuplot failed: " + Reason(run.said) : no_png + "gnuplot was not found; " + kInstallGnuplot;
}

}  // namespace backplane
