#include "base/files.hpp"
#include "figures/film_svg.hpp"
#include "page/page_assets.hpp"
#include "render/html_text.hpp"

namespace backplane {
namespace {

// `name` is unique in the page.
std::string FilmFigure(std::string svg, const std::string& name) {
  for (const char* animation : {kFilmStrip, kFilmMark}) ReplaceAll(animation, animation + HtmlId(name), &svg);
  return "<figure class=\"film\">\n" + svg + "</figure>\n";
}

}  // namespace

std::string HtmlFilm(const FilmUse& film) {
  const std::optional<std::string> svg = ReadFile(film.file);
  if (svg && svg->starts_with("<svg") && svg->find("<metadata>") != std::string::npos) return FilmFigure(*svg, film.file);
  return "<p class=\"note\">" + HtmlText(film.title + ": there is no film " + film.file) + "</p>\n";
}

// Loads only its embedded pictures, even if a text in it requests more.
std::string FilmPage(const std::string& svg, const std::string& title) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
         "script-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         HtmlText(title) + "</title>\n<style>\n" + kPageCss + "</style>\n</head>\n<body>\n<main>\n<h1>" + HtmlText(title) +
         "</h1>\n" + FilmFigure(svg, "page") + "</main>\n<script>\n" + kFilmJs + "</script>\n</body>\n</html>\n";
}

}  // namespace backplane
