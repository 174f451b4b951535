// Pieces of the HTML report.
#pragma once

#include <string>

#include "render/document.hpp"

namespace backplane {

// Escapes text of a user for use between tags and in quoted attributes.
std::string HtmlText(const std::string& text);
// Letters, digits and "-" only; not empty.
std::string HtmlId(const std::string& text);

// Links start at `folder`, where the page will be; empty: no links.
std::string HtmlTable(const Table& table, const std::filesystem::path& folder);
// A relative URL. Empty without a folder to start from.
std::string HtmlLink(const std::filesystem::path& file, const std::filesystem::path& folder);
// The drawing and the specification for the interactive version. Without a drawing, only the specification; without Vega's
// script, the reason for the gap.
std::string HtmlFigure(const Figure& figure, const Drawings& drawings);
// kFilmJs adds controls to it. If the file is missing, a note.
std::string HtmlFilm(const FilmUse& film);
// A page with only this film (figures/film_svg).
std::string FilmPage(const std::string& svg, const std::string& title);
void ReplaceAll(const std::string& from, const std::string& to, std::string* text);
// A script of others; empty: nothing.
std::string HtmlScript(std::string javascript);
std::string HtmlFindings(const Diagnosis& diagnosis);
// Folded under its title. A button copies the text.
std::string HtmlCode(const std::string& title, const std::string& text);
// Visible; a button copies it.
std::string HtmlSnippet(const std::string& text);

}  // namespace backplane
