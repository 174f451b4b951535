// --film: one evaluation episode of a trial as an SVG.
#include <cstdio>
#include <stdexcept>

#include "base/files.hpp"
#include "commands/commands.hpp"
#include "figures/film_svg.hpp"
#include "record/report_requests.hpp"

namespace backplane {

int FilmCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<FilmRequest>(json);
  const std::optional<std::string> text = ReadFile(request.film);
  if (!text) throw std::runtime_error("there is no film " + request.film);
  const Film film = RecordFromJson<Film>(nlohmann::json::parse(*text));
  WriteFileAtomic(request.to, FilmSvg(film, request.title));
  std::string notes;
  for (const std::string& note : film.notes) notes += ", " + note;
  std::printf("%s: %zu steps%s\n", request.to.c_str(), film.frames.size() - 1, notes.c_str());
  return 0;
}

}  // namespace backplane
