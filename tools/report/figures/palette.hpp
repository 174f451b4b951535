// Colour, shape and dash of each name, the same in every figure of a report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace backplane {

class Palette {
 public:
  // `field` of the rows holds the names. In this order they get the colours of Okabe and Ito, which the colour-blind can tell
  // apart (without the yellow, which white paper swallows), each with a shape and a dash beside it; 42 of them are all
  // different.
  Palette(std::string field, std::vector<std::string> names);
  // Colours of their own.
  Palette(std::string field, std::vector<std::string> names, std::vector<std::string> colours);

  // The range of each encoding, as long as names().
  nlohmann::json Colours() const;
  nlohmann::json Shapes() const;
  nlohmann::json Dashes() const;

  // Null for a single name, which needs no legend.
  nlohmann::json Legend() const;

  // The same with lines as samples in its legend, not points.
  Palette OfLines() const;

  const std::string& field() const { return field_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string field_;
  std::vector<std::string> names_, colours_;
  bool of_lines_ = false;
};

}  // namespace backplane
