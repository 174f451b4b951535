// Colour, shape and dash of each name, the same in every figure of a report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace backplane {

class Palette {
 public:
  // `field` of the rows holds the names. In this order they get the colour-blind safe palette of Okabe and Ito, without yellow,
  // which is invisible on white. Each also gets a shape and a dash; 42 combinations differ.
  Palette(std::string field, std::vector<std::string> names);
  // With given colours.
  Palette(std::string field, std::vector<std::string> names, std::vector<std::string> colours);

  // The range of each encoding, as long as names().
  nlohmann::json Colours() const;
  nlohmann::json Shapes() const;
  nlohmann::json Dashes() const;

  // Null for a single name, which needs no legend.
  nlohmann::json Legend() const;

  // The same, with lines instead of points in the legend.
  Palette OfLines() const;

  const std::string& field() const { return field_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string field_;
  std::vector<std::string> names_, colours_;
  bool of_lines_ = false;
};

}  // namespace backplane
