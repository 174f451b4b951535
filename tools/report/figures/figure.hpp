// A figure: a Vega-Lite specification that contains its data and its whole appearance. vl-convert turns it into SVG and PNG
// (draw_figures.hpp), the HTML report shows it with Vega's own script, and every Vega editor opens it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/number.hpp"

namespace backplane {

struct Figure {
  std::string name;   // of its files, without extension; unique
  std::string title;  // above all panels
  std::string alt;    // alternative text: the content in one sentence
  size_t columns = 1;
  nlohmann::json rows = nlohmann::json::array();     // its data, one table: each row names its panel
  nlohmann::json panels = nlohmann::json::array();   // Vega-Lite views (panels.hpp), row by row
  nlohmann::json choices = nlohmann::json::array();  // parameters that a reader sets
  // For live pages: the page's script creates the rows from the trials that a reader picks.
  enum class Picks {
    kNone,
    kSeries,
    kPanels
  };  // kSeries: a series in every panel per trial. kPanels: a copy of the first panel per trial
  Picks picks = Picks::kNone;
};

// True if no panel has a second mean: the figure shows no more than a table cell. False for tables, which are no plots.
bool IsOfOnePoint(const Figure& figure);

// The content of NAME.vl.json.
nlohmann::json Specification(const Figure& figure);

nlohmann::json ToJson(const Figure& figure);

// Adds `value`, `low`, `high` and the tooltip's texts: `shown` ("9,562 ± 213") and `n` ("2 seeds"). JSON has no NaN or
// infinity; null interrupts the line there.
void PutNumber(const Number& number, int digits, nlohmann::json* row);
nlohmann::json FiniteOrNull(double value);

// A name that a parameter of a specification may have.
std::string Identifier(const std::string& text);

}  // namespace backplane
