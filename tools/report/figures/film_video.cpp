#include "figures/film_video.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "base/json_text.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "figures/film_svg.hpp"

namespace backplane {
namespace {

constexpr char kVideoProgram[] = "backplane-film.py";
constexpr std::chrono::minutes kVideoLimit{9};  // backplane-report has 10

void WriteStills(const Film& film, const std::string& title, const std::filesystem::path& file) {
  std::ofstream out(file);
  for (size_t i = 0; i < film.frames.size(); ++i) out << JsonText(nlohmann::json(StillSvg(film, title, i))) << '\n';
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string() + ": " + std::strerror(errno));
}

}  // namespace

void WriteFilmVideo(const Film& film, const std::string& title, const std::filesystem::path& scratch,
                    const std::filesystem::path& to) {
  const std::filesystem::path program = BesideProgram(kVideoProgram), frames = scratch / "frames.jsonl";
  if (program.empty()) throw std::runtime_error(std::string(kVideoProgram) + " is missing next to this program");
  WriteStills(film, title, frames);
  ProcessCall call{{FindPython(), program, frames, fmt::format("{}", film.frame_s), fmt::format("{}", kFilmHold_s), to}};
  call.limit = kVideoLimit;
  const ProcessEnd end = RunProcess(call);
  if (end.ok()) return;
  std::string why = end.err;
  why.erase(why.find_last_not_of('\n') + 1);
  if (end.timed_out) why = fmt::format("{} did not end within {} minutes", kVideoProgram, kVideoLimit.count());
  if (end.signal != 0) why = fmt::format("{} was ended by: {}", kVideoProgram, strsignal(end.signal));
  throw std::runtime_error(to.string() + ": " + (why.empty() ? fmt::format("{} ended with {}", kVideoProgram, end.code) : why));
}

}  // namespace backplane
