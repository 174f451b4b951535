#include "kinds/last_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_fields.hpp"
#include "kinds/change.hpp"
#include "kinds/host_measures.hpp"
#include "record/results_folder.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNamedChanges = 3;  // changes in the verdict

// The return of the evaluation, or else of training.
constexpr const char* kMeasured[] = {"eval/return", "return", "SPS", "rss_peak_mb"};

std::vector<std::string> PointNames(const ResultSet& set) {
  std::vector<std::string> points;
  for (const TrialData& trial : set.trials)
    if (std::find(points.begin(), points.end(), trial.point) == points.end()) points.push_back(trial.point);
  return points;
}

std::vector<Number> NumbersOf(const ResultSet& set, const std::string& point, const char* measure) {
  std::vector<Number> numbers;
  for (const TrialData& trial : set.trials) {
    const Number* number = trial.point == point && trial.usable() ? trial.Find(measure) : nullptr;
    if (number != nullptr && std::isfinite(number->value)) numbers.push_back(*number);
  }
  return numbers;
}

bool HasInterval(const Number& number) { return number.low && number.high; }

// In percent, or as a difference. Its interval is there where both have one.
struct Change {
  Number number;
  bool in_percent = false;
};
Change ChangeOf(const Number& now, const Number& then, bool in_percent) {
  Change change{{}, in_percent};
  if (in_percent) {
    change.number = PercentChange(now, then);
    return change;
  }
  change.number = Reading(now.value - then.value);
  if (HasInterval(now) && HasInterval(then)) {
    const double half = std::hypot(*now.high - now.value, *then.high - then.value);
    change.number.low = change.number.value - half;
    change.number.high = change.number.value + half;
  }
  return change;
}

constexpr char kReadOnce[] = "one value: no interval";

std::string VerdictOf(const Number& change) {
  if (change.value == 0) return "the same";
  if (!HasInterval(change)) return kReadOnce;
  if (*change.low <= 0 && *change.high >= 0) return "within noise";
  return change.value > 0 ? "more" : "less";
}

// Rows of the table, and the texts that the verdict names.
struct Changes {
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> shown, unknown;
};

void AddChange(const std::string& point, const char* measure, const Number& now, const Number& then, bool in_percent,
               Changes* out) {
  const std::string unit = FindHostMeasure(measure)->unit, name = MeasureWords(measure);
  const std::string of_point = point.empty() ? "" : " of " + point;
  const Change change = ChangeOf(now, then, in_percent);
  const std::string verdict = VerdictOf(change.number);
  const std::string shown =
      (change.number.value < 0 ? "" : "+") + FormatNumber(change.number, 3) + (change.in_percent ? " %" : "");
  out->rows.push_back({name + (unit.empty() ? "" : fmt::format(" ({})", unit)) + of_point, verdict == "the same" ? "0" : shown,
                       verdict, then, now});
  if (verdict == kReadOnce) out->unknown.push_back(name + of_point);
  if (verdict == "more" || verdict == "less")
    out->shown.push_back(fmt::format("{}{} {}{}", name, of_point, shown, now.of == "seeds" ? "" : ", one run each"));
}

std::string SentenceOf(Changes found) {
  std::vector<std::string>& changes = found.shown;
  const size_t more = changes.size() > kNamedChanges ? changes.size() - kNamedChanges : 0;
  changes.resize(changes.size() - more);
  const std::string none = found.unknown.empty()
                               ? "every change is within noise"
                               : fmt::format("no change is shown (only one value of {})", fmt::join(found.unknown, ", "));
  return fmt::format("Compared with the last run of the file: {}{}.",
                     changes.empty() ? none : fmt::format("{}", fmt::join(changes, "; ")),
                     more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace

std::optional<fs::path> LastRunOf(const ResultSet& set) {
  const fs::path whole = fs::absolute(set.out / "").lexically_normal().parent_path();
  const std::string name = whole.filename().string() + ".";
  std::optional<fs::path> last;
  unsigned newest = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(whole.parent_path(), error)) {
    const std::string other = entry.path().filename().string();
    unsigned number = 0;
    if (!other.starts_with(name)) continue;
    const auto read = std::from_chars(other.data() + name.size(), other.data() + other.size(), number);
    if (read.ec != std::errc() || read.ptr != other.data() + other.size() || number <= newest) continue;
    if (!fs::exists(ResultsFolder{entry.path()}.plan(), error)) continue;
    newest = number;
    last = (set.out / "").parent_path().parent_path() / other;
  }
  return last;
}

std::optional<AgainstLastRun> CompareWithLastRun(const ResultSet& now, const ResultSet& then) {
  if (now.experiment != then.experiment) return std::nullopt;
  Changes found;
  for (const std::string& point : PointNames(now)) {
    bool has_return = false;
    for (const char* measure : kMeasured) {
      const bool is_return = std::string_view(measure).ends_with("return");
      const std::vector<Number> of_now = NumbersOf(now, point, measure);
      const std::vector<Number> of_then = NumbersOf(then, point, measure);
      const std::optional<Number> value = OverSeeds(of_now), before = OverSeeds(of_then);
      if (!value || !before || (is_return && has_return)) continue;
      has_return |= is_return;
      std::vector<double> values;
      for (const auto* side : {&of_now, &of_then})
        for (const Number& number : *side) values.push_back(number.value);
      AddChange(point, measure, *value, *before, MayBeRatios(*before, values), &found);
    }
  }
  if (found.rows.empty()) return std::nullopt;
  Table table{"last_run", fmt::format("Against {}", then.out.string()), {}, {}, {}, {}};
  table.columns = {{"measure", "measure", "", ""},
                   {"change", "change", "", "with its 95 % interval"},
                   {"verdict", "verdict", "", ""},
                   {"then", "then", "", ""},
                   {"now", "now", "", ""}};
  table.rows = std::move(found.rows);
  table.notes = {
      "Within noise: the interval of the change includes 0. The interval covers the seeds of a point. For a single seed, it "
      "covers only iterations or episodes, and another seed may differ by more."};
  return AgainstLastRun{{"last_run", "Against the last run", {std::move(table)}}, SentenceOf(std::move(found))};
}

}  // namespace backplane
