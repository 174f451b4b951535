// --film: one evaluation episode of a trial as an SVG, a page or a video.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "base/files.hpp"
#include "commands/commands.hpp"
#include "figures/film_svg.hpp"
#include "figures/film_video.hpp"
#include "log/log.hpp"
#include "record/report_requests.hpp"
#include "render/html_text.hpp"

namespace backplane {
namespace {

void Write(const Film& film, const FilmRequest& request) {
  const std::filesystem::path to = request.to;
  if (to.has_parent_path()) std::filesystem::create_directories(to.parent_path());
  if (to.extension() == ".gif" || to.extension() == ".webm")
    return WriteFilmVideo(film, request.title, std::filesystem::path(request.film).parent_path(), to);
  const std::string svg = FilmSvg(film, request.title);
  WriteFileAtomic(to, to.extension() == ".html" ? FilmPage(svg, request.title) : svg);
}

}  // namespace

int FilmCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<FilmRequest>(json);
  const std::optional<std::string> text = ReadFile(request.film);
  if (!text) throw std::runtime_error("no film in " + request.film);
  const Film film = RecordFromJson<Film>(nlohmann::json::parse(*text));
  if (film.frames.empty() || film.returns.empty()) throw std::runtime_error(request.film + ": expected an episode, got none");
  Write(film, request);
  std::string notes;
  for (const std::string& note : film.notes) notes += ", " + note;
  std::printf("%s: %zu steps%s\n", request.to.c_str(), static_cast<size_t>(film.steps()), notes.c_str());
  if (const double played = film.returns.back(); request.recorded_return && *request.recorded_return != played)
    LogError(
        "expected the recorded return of this episode, {}, got {}: the checkpoint, a plugin or the machine differs from the "
        "evaluation",
        *request.recorded_return, played);
  return 0;
}

}  // namespace backplane
