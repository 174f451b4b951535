#include "results/resource_series.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "base/files.hpp"
#include "machine/resource_measures.hpp"

namespace backplane {
namespace {

const char* const kTime = "time_s";
const char* const kIteration = "iteration";
const char* const kDuration = "duration_s";
const char* const kCores = resource_measure::ColumnOf(resource_measure::kCpuCoresUsed);
const char* const kOfCpuTime = resource_measure::ColumnOf(resource_measure::kRunQueueWaitPct);

std::optional<double> Parse(std::string_view field) {
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool whole = error == std::errc() && end == field.data() + field.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// The smallest value not exceeded by this share of all values.
double NearestRank(std::vector<double> values, double p) {
  const size_t rank = static_cast<size_t>(std::ceil(p * static_cast<double>(values.size())));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

struct Samples {
  std::vector<std::string> columns;
  std::vector<ResourceRows::Row> rows;  // each as wide as the head

  std::optional<size_t> Find(const std::string& name) const {
    const auto found = std::find(columns.begin(), columns.end(), name);
    return found != columns.end() ? std::optional(static_cast<size_t>(found - columns.begin())) : std::nullopt;
  }
};

Samples Read(const std::filesystem::path& file) {
  std::ifstream stream = OpenStream(file);
  ResourceRows rows;
  Samples samples;
  for (std::string line; std::getline(stream, line);) {
    if (auto row = rows.Next(line)) samples.rows.push_back(std::move(*row));
  }
  samples.columns = rows.columns();
  return samples;
}

// Returns false and keeps all rows if the file does not mark the warm-up, or has no other rows.
bool DropWarmUp(Samples* samples) {
  const std::optional<size_t> column = samples->Find(kIteration);
  if (!column) return false;
  const auto is_warm_up = [&](const auto& row) { return row[*column].value_or(0) < 1; };
  if (std::all_of(samples->rows.begin(), samples->rows.end(), is_warm_up)) return false;
  std::erase_if(samples->rows, is_warm_up);
  return true;
}

// Adds the column of durations: seconds since the previous row, or 1 if the file has no times.
void AddDurations(Samples* samples) {
  const std::optional<size_t> time = samples->Find(kTime);
  samples->columns.push_back(kDuration);
  double last_s = 0;
  for (auto& row : samples->rows) {
    const double now_s = time ? row[*time].value_or(last_s) : last_s + 1;
    row.push_back(std::max(0.0, now_s - last_s));
    last_s = now_s;
  }
}

struct Weighted {
  double value, weight;
};

// Consecutive samples are not independent, so their mean has no interval by Student's t.
Number MeanOfSamples(const std::vector<Weighted>& samples, bool without_warm_up) {
  const bool weighs = std::any_of(samples.begin(), samples.end(), [](const Weighted& s) { return s.weight > 0; });
  const auto mean = [&](auto value) {
    double sum = 0, weights = 0;
    for (const Weighted& s : samples) {
      const double weight = weighs ? s.weight : 1;
      sum += weight * value(s), weights += weight;
    }
    return sum / weights;
  };
  const auto n = static_cast<double>(samples.size());
  Number number = Reading(mean([](const Weighted& s) { return s.value; }));
  number.n = samples.size();
  number.of = without_warm_up ? kSamples : kSamplesWithWarmUp;
  const double squares = mean([&](const Weighted& s) { return (s.value - number.value) * (s.value - number.value); });
  if (n > 1) number.sd = std::sqrt(squares * n / (n - 1));
  std::vector<double> values;
  for (const Weighted& s : samples) values.push_back(s.value);
  number.max = *std::max_element(values.begin(), values.end());
  number.p95 = NearestRank(std::move(values), 0.95);
  return number;
}

}  // namespace

std::optional<ResourceRows::Row> ResourceRows::Next(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string_view> fields;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  if (columns_.empty()) {
    columns_.assign(fields.begin(), fields.end());
    return std::nullopt;
  }
  if (fields.size() != columns_.size()) return std::nullopt;
  Row row;
  for (const std::string_view field : fields) row.push_back(Parse(field));
  return row;
}

std::map<std::string, Number> ReadResourceSeries(const std::filesystem::path& file) {
  Samples samples = Read(file);
  const size_t duration = samples.columns.size();
  AddDurations(&samples);
  const bool without_warm_up = DropWarmUp(&samples);
  const std::optional<size_t> cores = samples.Find(kCores);
  std::map<std::string, Number> found;
  for (size_t i = 0; i < duration; ++i) {
    const std::string& name = samples.columns[i];
    if (name == kTime || name == kIteration) continue;
    // Shares of CPU time are weighted by CPU time.
    const bool of_cpu_time = name == kOfCpuTime && cores;
    std::vector<Weighted> column;
    for (const auto& row : samples.rows) {
      if (row[i]) column.push_back({*row[i], *row[duration] * (of_cpu_time ? row[*cores].value_or(0) : 1)});
    }
    if (!column.empty()) found[name] = MeanOfSamples(column, without_warm_up);
  }
  return found;
}

std::map<std::string, std::vector<ResourceSample>> ReadResourceSamples(const std::filesystem::path& file) {
  const Samples samples = Read(file);
  std::map<std::string, std::vector<ResourceSample>> found;
  const std::optional<size_t> time = samples.Find(kTime);
  for (const auto& row : samples.rows) {
    for (size_t i = 0; time && i < row.size(); ++i) {
      if (row[*time] && row[i]) found[samples.columns[i]].push_back({*row[*time], *row[i]});
    }
  }
  return found;
}

}  // namespace backplane
