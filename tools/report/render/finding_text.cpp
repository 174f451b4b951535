#include "render/finding_text.hpp"

#include <fmt/format.h>

#include "text/format_number.hpp"

namespace backplane {
namespace {

std::string WithUnit(double value, const std::string& unit) {
  return FormatNumber(Number{.value = value}, 3) + (unit.empty() ? "" : " " + unit);
}

}  // namespace

std::string EvidenceText(const Evidence& evidence) {
  std::string text = evidence.measure + ": " + WithUnit(evidence.value, evidence.unit);
  if (evidence.threshold) text += " (threshold " + WithUnit(*evidence.threshold, evidence.unit) + ")";
  return evidence.window.empty() ? text : text + ", " + evidence.window;
}

}  // namespace backplane
