// Pieces of the HTML report.
#pragma once

#include <string>

#include "render/document.hpp"

namespace backplane {

// Words of a user: safe between tags and within quoted attributes.
std::string HtmlText(const std::string& text);
// Letters, digits and "-" only; not empty.
std::string HtmlId(const std::string& text);

std::string HtmlTable(const Table& table);
// The drawing, and the specification with which the page's script makes it one to point at; where it is not drawn, why.
std::string HtmlFigure(const Figure& figure, const Drawings& drawings);
// To which kFilmJs adds controls; where the file is gone, that.
std::string HtmlFilm(const FilmUse& film);
// A page with nothing else than this film (figures/film_svg).
std::string FilmPage(const std::string& svg, const std::string& title);
void ReplaceAll(const std::string& from, const std::string& to, std::string* text);
// A script of others; empty: nothing.
std::string HtmlScript(std::string javascript);
std::string HtmlFindings(const Diagnosis& diagnosis);
// Folded away under its title. A button copies the text.
std::string HtmlCode(const std::string& title, const std::string& text);
// In full view; a button copies it.
std::string HtmlSnippet(const std::string& text);

}  // namespace backplane
