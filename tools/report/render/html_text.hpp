// Pieces of the HTML report.
#pragma once

#include <string>

#include "render/document.hpp"

namespace backplane {

// Words of a user: safe between tags and within quoted attributes.
std::string HtmlText(const std::string& text);
// Letters, digits and "-" only; not empty.
std::string HtmlId(const std::string& text);

// What it links to is told from `folder`, where the page will lie; empty: no links.
std::string HtmlTable(const Table& table, const std::filesystem::path& folder);
// A relative URL; empty where there is no folder to begin at.
std::string HtmlLink(const std::filesystem::path& file, const std::filesystem::path& folder);
// The drawing, and the specification with which the page's script makes it one to point at; without a drawing that alone, and
// without the script's own why there is none.
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
