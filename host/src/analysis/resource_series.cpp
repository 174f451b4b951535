#include "analysis/resource_series.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <vector>

namespace backplane {
namespace {

const char* const kTime = "time_s";
const char* const kIteration = "iteration";

std::vector<std::string> Fields(std::string line) {
  if (line.ends_with('\r')) line.pop_back();
  std::vector<std::string> fields;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

std::optional<double> Parse(const std::string& field) {
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool whole = error == std::errc() && end == field.data() + field.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// The smallest value that this share of all does not exceed: always one that was sampled, for some columns are sets of bits.
double Quantile(std::vector<double> values, double p) {
  const size_t rank = static_cast<size_t>(std::ceil(p * static_cast<double>(values.size())));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

struct Samples {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<double>>> rows;  // each as wide as the head
};

// A row of another width was not written whole.
Samples Read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  Samples samples;
  std::string line;
  if (std::getline(stream, line)) samples.columns = Fields(line);
  while (std::getline(stream, line)) {
    std::vector<std::optional<double>> row;
    for (const std::string& field : Fields(line)) row.push_back(Parse(field));
    if (row.size() == samples.columns.size()) samples.rows.push_back(std::move(row));
  }
  return samples;
}

void DropWarmUp(Samples* samples) {
  const auto found = std::find(samples->columns.begin(), samples->columns.end(), kIteration);
  if (found == samples->columns.end()) return;
  const size_t column = static_cast<size_t>(found - samples->columns.begin());
  const auto is_warm_up = [&](const auto& row) { return row[column].value_or(0) < 1; };
  if (!std::all_of(samples->rows.begin(), samples->rows.end(), is_warm_up)) std::erase_if(samples->rows, is_warm_up);
}

}  // namespace

std::map<std::string, Number> ReadResourceSeries(const std::filesystem::path& file) {
  Samples samples = Read(file);
  DropWarmUp(&samples);
  std::map<std::string, Number> found;
  for (size_t i = 0; i < samples.columns.size(); ++i) {
    const std::string& name = samples.columns[i];
    std::vector<double> values;
    for (const auto& row : samples.rows) {
      if (row[i]) values.push_back(*row[i]);
    }
    if (values.empty() || name == kTime || name == kIteration) continue;
    Number& number = found[name] = Mean(values, "samples");
    number.max = *std::max_element(values.begin(), values.end());
    number.p95 = Quantile(values, 0.95);
  }
  return found;
}

}  // namespace backplane
