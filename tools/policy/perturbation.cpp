#include "policy/perturbation.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

namespace backplane {
namespace {

constexpr uint64_t kUsualValues = 5, kMostValues = 100;
constexpr std::string_view kDots = "..";

[[noreturn]] void Fail(const std::string& got) {
  throw std::runtime_error("--perturb: expected NAME=LOW..HIGH[:NUMBER], several separated by commas, got '" + got +
                           "'\nhint: --perturb mass=0.8..1.2,friction=0.5..1.5");
}

template <class Value>
Value Parse(const std::string& text, const std::string& whole) {
  Value value{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) Fail(whole);
  return value;
}

// Appends one element per value of "mass=0.8..1.2:5".
void AddOne(const std::string& text, std::vector<Factors>* all) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) Fail(text);
  const std::string name = text.substr(0, equals);
  std::string range = text.substr(equals + 1);
  uint64_t values = kUsualValues;
  if (const size_t colon = range.find(':'); colon != range.npos) {
    values = Parse<uint64_t>(range.substr(colon + 1), text);
    range.resize(colon);
  }
  const size_t dots = range.find(kDots);
  if (dots == range.npos) values = 1;
  const auto low = Parse<double>(range.substr(0, dots), text);
  const double high = dots == range.npos ? low : Parse<double>(range.substr(dots + 2), text);
  if (values == 0 || values > kMostValues || !std::isfinite(low) || !std::isfinite(high) || low > high) Fail(text);
  for (uint64_t i = 0; i < values; ++i) {
    const double part = values == 1 ? 0 : static_cast<double>(i) / static_cast<double>(values - 1);
    all->push_back({{name, low + (high - low) * part}});
  }
}

}  // namespace

std::vector<Factors> ParsePerturbations(const std::string& text) {
  std::vector<Factors> all(1);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    AddOne(text.substr(begin, end - begin), &all);
    begin = end + 1;
  }
  return all;
}

}  // namespace backplane
