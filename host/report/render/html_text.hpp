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
// A script of others; empty: nothing.
std::string HtmlScript(std::string javascript);
std::string HtmlFindings(const Diagnosis& diagnosis);
// Folded away under its title. A button copies the text.
std::string HtmlCode(const std::string& title, const std::string& text);
// In full view; a button copies it.
std::string HtmlSnippet(const std::string& text);

}  // namespace backplane
