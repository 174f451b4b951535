#include "figures/draw_figures.hpp"

#include <cstring>
#include <sstream>
#include <stdexcept>

#include "base/file_name.hpp"
#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kProgram[] = "backplane-figures.py";
constexpr std::chrono::seconds kLimit{120};

struct Answer {
  std::map<std::string, std::string> why_not;  // figure -> reason; empty: drawn
  std::string javascript;                      // a file
  std::string why_none;                        // reason for all other figures
};

std::string HowItEnded(const ProcessEnd& end) {
  if (!end.started) return "Python was not started: " + end.err + "; " + PipHint("vl-convert-python");
  if (end.timed_out) return "drawing took longer than " + std::to_string(kLimit.count()) + " s";
  if (end.signal != 0) return std::string("the program that draws figures was ended by ") + strsignal(end.signal);
  return end.code != 0 ? "the program that draws figures failed: " + OneLine(end.err.substr(0, 400)) : "";
}

Answer Ask(const std::vector<std::string>& arguments) {
  Answer answer;
  const fs::path program = BesideProgram(kProgram);
  if (program.empty()) return {{}, "", std::string(kProgram) + " is missing next to this program"};
  ProcessCall call{{FindPython(), program}};
  call.words.insert(call.words.end(), arguments.begin(), arguments.end());
  call.limit = kLimit;
  const ProcessEnd end = RunProcess(call);
  std::istringstream lines(end.out);
  for (std::string line; std::getline(lines, line);) {
    const json said = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!said.is_object()) continue;
    if (said.contains("figure")) answer.why_not[said.at("figure")] = said.value("why_not", "");
    answer.javascript = said.value("javascript", answer.javascript);
    if (said.contains("why_none"))
      answer.why_none = said.at("why_none").get<std::string>() + "; " + PipHint("vl-convert-python");
  }
  if (answer.why_none.empty()) answer.why_none = HowItEnded(end);
  return answer;
}

}  // namespace

Drawings DrawFigures(const std::vector<Figure>& figures, const fs::path& folder) {
  Drawings drawings;
  if (figures.empty()) return drawings;
  const fs::path beside = folder / "figures";
  fs::create_directories(beside);
  const auto svg = [&](const Figure& figure) { return beside / (figure.name + ".svg"); };
  const auto png = [&](const Figure& figure) { return folder / (figure.name + ".png"); };
  for (const Figure& figure : figures) {
    if (!IsFileName(figure.name))
      throw std::runtime_error("name of a figure: expected a plain file name, got '" + OneLine(figure.name) + "'");
    fs::remove(svg(figure));
    fs::remove(png(figure));
    WriteFileAtomic(beside / (figure.name + ".vl.json"), JsonText(Specification(figure)) + "\n");
  }
  std::vector<std::string> arguments = {fs::absolute(folder)};
  for (const Figure& figure : figures) arguments.push_back(figure.name);
  const Answer answer = Ask(arguments);
  for (const Figure& figure : figures) {
    const auto tried = answer.why_not.find(figure.name);
    const std::string why = tried == answer.why_not.end() ? answer.why_none : tried->second;
    const std::optional<std::string> drawn = why.empty() ? ReadFile(svg(figure)) : std::nullopt;
    if (drawn && fs::exists(png(figure))) {
      drawings.svg[figure.name] = *drawn;
      continue;
    }
    fs::remove(svg(figure));
    fs::remove(png(figure));
    drawings.missing[figure.name] = "no " + figure.name + ".png: " + (why.empty() ? "nothing was written" : why);
  }
  if (!drawings.svg.empty()) drawings.javascript = ReadFile(answer.javascript).value_or("");
  return drawings;
}

std::string FigureScript() {
  fs::path kept;
  fs::file_time_type newest;
  std::error_code error;
  const fs::path folder = fs::path(FindPython()).parent_path().parent_path() / "share/backplane";
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with("vega-") || (!kept.empty() && entry.last_write_time(error) <= newest))
      continue;
    kept = entry.path();
    newest = entry.last_write_time(error);
  }
  return ReadFile(kept.empty() ? fs::path(Ask({"--javascript"}).javascript) : kept).value_or("");
}

}  // namespace backplane
