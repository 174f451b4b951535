#include "trial/recorder.hpp"

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "tf_events/crc32c.hpp"
#include "trial/checkpoint.hpp"

namespace backplane {
namespace {
constexpr size_t kWindow = 100;
}

Spread Summarise(const std::vector<double>& values) {
  Spread spread;
  spread.n = values.size();
  if (values.empty()) return spread;
  double sum = 0, squares = 0;
  for (double v : values) sum += v;
  const double n = static_cast<double>(values.size()), mean = sum / n;
  for (double v : values) squares += (v - mean) * (v - mean);
  spread.mean = mean;
  if (values.size() > 1) {
    spread.sd = std::sqrt(squares / (n - 1));
    spread.se = std::sqrt(squares / (n - 1) / n);
  }
  return spread;
}

EpisodeMeans MeansOf(const EvaluationResult& result) {
  EpisodeMeans means{Summarise(result.returns), {{"ep/length", Summarise(result.lengths)}}};
  for (const auto& [name, values] : result.infos) means.metrics[name] = Summarise(values);
  return means;
}

void EpisodeWindow::Add(const std::vector<Episode>& episodes, const std::vector<std::string>& info_names) {
  names_ = info_names;
  for (const Episode& e : episodes) {
    items_.push_back(
        {e.episode_return, static_cast<double>(e.length), std::vector<double>(e.info, e.info + info_names.size())});
    if (items_.size() > kWindow) items_.pop_front();
  }
  total_ += episodes.size();
}

double EpisodeWindow::mean_return() const {
  double sum = 0;
  for (const SavedEpisode& item : items_) sum += item.episode_return;
  return items_.empty() ? std::nan("") : sum / static_cast<double>(items_.size());
}

Spread EpisodeWindow::Returns() const {
  std::vector<double> values;
  for (const SavedEpisode& item : items_) values.push_back(item.episode_return);
  return Summarise(values);
}

std::map<std::string, Spread> EpisodeWindow::Metrics() const {
  std::vector<double> values;
  for (const SavedEpisode& item : items_) values.push_back(item.length);
  std::map<std::string, Spread> out = {{"ep/length", Summarise(values)}};
  for (size_t i = 0; i < names_.size(); ++i) {
    values.clear();
    for (const SavedEpisode& item : items_) values.push_back(item.infos[i]);
    out[names_[i]] = Summarise(values);
  }
  return out;
}

SavedWindow EpisodeWindow::Save() const { return {total_, names_, {items_.begin(), items_.end()}}; }

void EpisodeWindow::Load(const SavedWindow& saved, size_t infos) {
  const auto need = [](bool right, const std::string& what) {
    if (!right) throw CheckpointError("its window of episodes has " + what);
  };
  const size_t n = saved.episodes.size();
  need(n <= kWindow && n <= saved.total, std::to_string(n) + " of " + std::to_string(saved.total) + " episodes");
  need(n == 0 || saved.names.size() == infos,
       std::to_string(saved.names.size()) + " names of episode metrics, but the env has " + std::to_string(infos));
  for (const SavedEpisode& episode : saved.episodes)
    need(episode.infos.size() == infos, "an episode with " + std::to_string(episode.infos.size()) + " of these metrics");
  total_ = saved.total;
  names_ = saved.names;
  items_.assign(saved.episodes.begin(), saved.episodes.end());
}

MetricsFile::MetricsFile(const std::filesystem::path& file, uint64_t attempt) : file_(file) {
  written_.attempt = attempt;
  // A second run in the same folder by hand appends to the file.
  const std::string before = ReadFile(file).value_or("");
  Count(before, static_cast<uint64_t>(std::count(before.begin(), before.end(), '\n')));
}

void MetricsFile::Append(const Iteration& line) { AppendAll({line}); }

void MetricsFile::AppendAll(const std::vector<Iteration>& lines) {
  std::string text;
  for (const Iteration& line : lines) text += JsonText(ToJson(line)) + "\n";
  file_.Append(text);
  Count(text, lines.size());
}

void MetricsFile::Count(std::string_view text, uint64_t lines) {
  written_.lines += lines;
  written_.bytes += text.size();
  written_.crc32c = Crc32c(text, written_.crc32c);
}

PhaseTimes PhaseTable(const std::vector<PhaseClock>& clocks, int64_t wall_ns) {
  const double all = static_cast<double>(wall_ns) * static_cast<double>(clocks.size());
  PhaseTimes times;
  for (size_t p = 0; p < kPhaseCount; ++p) {
    int64_t ns = 0;
    for (const PhaseClock& clock : clocks) ns += clock.ns(static_cast<Phase>(p));
    // A runner outside of a job is idle.
    if (static_cast<Phase>(p) == Phase::kIdle)
      for (size_t i = 1; i < clocks.size(); ++i) ns += wall_ns - clocks[i].total_ns();
    if (ns != 0) times.phases.push_back({std::string(kPhaseNames[p]), ns * 1e-9, static_cast<double>(ns) / all});
  }
  const double unnamed = static_cast<double>(wall_ns - clocks[0].total_ns());
  times.unnamed_share = unnamed / all;
  times.control_unnamed_share = unnamed / static_cast<double>(wall_ns);
  return times;
}

}  // namespace backplane
