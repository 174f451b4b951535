#include "live/live_document.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "figures/panels.hpp"
#include "kinds/build_report.hpp"
#include "kinds/host_measures.hpp"
#include "kinds/phases_figure.hpp"
#include "kinds/resource_figures.hpp"
#include "kinds/search_figures.hpp"
#include "kinds/search_headline.hpp"
#include "kinds/search_tables.hpp"
#include "kinds/sections.hpp"
#include "results/sparkline.hpp"
#include "rules/try_command.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

constexpr size_t kMostCurveBytes = 1'700'000;  // of a page of 3 MB, of which Vega's script uses 0.9
constexpr size_t kMostRows = 1000, kMostPicks = 6, kLogLines = 12, kMostLogs = 4;
constexpr size_t kPlaces = 42;  // number of distinguishable series (figures/palette.hpp)

// False if the file's question is not about returns, as for random actions.
bool AsksForReturn(const ResultSet& set) {
  return Text(At(At(set.config, "learner"), "plugin")) != "random" &&
         AsksForReturn({set}, ReadTolerantly<ReportSection>(At(set.config, "report")));
}

// A panel of curves: the name of its curves and their axes.
struct Panel {
  std::string name, title, x, y;
};

bool IsOfMachine(const std::string& name) { return name.starts_with(resource_measure::kPrefix) || name == "sps"; }

Panel PanelOf(const std::string& name) {
  const std::string x = name.starts_with(resource_measure::kPrefix) ? "seconds since the attempt's start" : "environment steps";
  if (name == "sps") return {name, "Speed", x, "steps per second"};
  for (const ResourceChart& chart : kResourceCharts)
    if (name == chart.measure) return {name, chart.title, x, chart.axis};
  return {name, MeasureWords(name), x, MeasureWords(name)};
}

class Builder {
 public:
  Builder(LiveBatch* batch, Document* document) : batch_(*batch), document_(*document) {
    for (size_t i = 0; i < batch_.trials().size(); ++i) places_[batch_.trials()[i].id] = i;
    order_ = Order();
  }

  void Head(const std::string& answer) {
    const ProgressHead& head = batch_.progress();
    document_.kind = "live";
    document_.title = head.experiment;
    document_.made_at = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::chrono::system_clock::now()));
    const auto count = [&](const char* state) {
      const auto found = head.counts.find(state);
      return found != head.counts.end() ? found->second : 0;
    };
    std::string lead = fmt::format("{} of {} {} done, {} running", head.done, head.total, head.total == 1 ? "trial" : "trials",
                                   count("RUNNING"));
    for (const auto& [state, word] : {std::pair("FAILED", "failed"), {"LOST", "lost"}, {"QUEUED", "queued"}})
      if (const uint64_t trials = count(state)) lead += fmt::format(", {} {}", trials, word);
    if (!head.waits_for.empty()) lead += fmt::format("{} ({})", count("QUEUED") > 0 ? "" : ", waiting", head.waits_for);
    if (head.eta_s) lead += fmt::format("; about {} left", Duration(*head.eta_s));
    document_.verdict = {lead + "."};
    if (!answer.empty()) document_.verdict.push_back("So far: " + answer);
    // A search reports its own best.
    const bool by_return = batch_.record().search.open.is_null() && answer.empty() && AsksForReturn(batch_.head());
    const TrialProgress* best = by_return ? Best() : nullptr;
    if (best != nullptr)
      document_.verdict.push_back(fmt::format("Highest return of a trial so far: {}, {}.", best->name,
                                              FormatNumber(Reading(*best->episode_return), 4)));
  }

  // Panels and their data, up to the limit of the page.
  void Curves() {
    std::vector<Panel> learning, further, machine;
    std::vector<std::string> left_out;
    std::string panels;
    const std::vector<Phase> phases = PhasesInOrder(SeenPhases());
    const std::string of_phases = PhasesOf(phases);
    for (const std::string& name : Names()) {
      const Panel panel = PanelOf(name);
      std::string data = DataOf(name);
      if (of_phases.size() + panels.size() + data.size() > kMostCurveBytes) {
        left_out.push_back(panel.title);
        continue;
      }
      panels += (panels.empty() ? "" : ",\n") + JsonText(nlohmann::json(panel.title)) + ":{" + data + "}";
      (IsOfMachine(name) ? machine : learning.size() < 3 ? learning : further).push_back(panel);
    }
    document_.live.emplace();
    document_.live->curves =
        fmt::format("{{\"trials\":{{{}}},\n\"picks\":{},\n\"panels\":{{{}}},\n\"phases\":{{\"names\":{},\"trials\":{{{}}}}}}}",
                    TrialsJson(), JsonText(nlohmann::json(DefaultPicks())), panels,
                    JsonText(nlohmann::json(PhaseWords(phases))), of_phases);
    Add("curves", "Curves of the picked trials", learning);
    Add("further_curves", "Further curves of the picked trials", further);
    Add("machine_curves", "Speed and use of the machine by the picked trials over time", machine);
    AddPhases(phases);
    if (!left_out.empty())
      notes_.push_back(fmt::format("The page has no room for these curves: {}. They are in each trial's metrics.jsonl.",
                                   fmt::join(left_out, ", ")));
  }

  // For a search: the first section of its report. Absent for other batches.
  std::optional<Section> Search() {
    std::optional<Study> study = StudyOfSearch(batch_.plan(), batch_.record());
    if (!study) return std::nullopt;
    // Add ended trials that are still being read, including those with fresh seeds.
    ResultSet set = batch_.head();
    set.trials.assign(batch_.ended().begin(), batch_.ended().end());
    const Combined combined = Combine({set});
    CountTrialsAtTheirEnd(combined, &*study);
    const SearchParts parts = PartsOf(*study, combined);
    const std::vector<std::string> verdict = SearchVerdict(parts);
    document_.verdict.insert(document_.verdict.end(), verdict.begin(), verdict.end());
    Section section{"search", "Search", {}};
    for (Figure& figure : SearchFigures(parts, ImportanceOfOptions(*study))) {
      section.blocks.emplace_back(FigureUse{figure.name});
      document_.figures.push_back(std::move(figure));
    }
    if (std::optional<Table> best = BestTable(parts)) section.blocks.emplace_back(std::move(*best));
    section.blocks.emplace_back(SuggestionsTable(parts, ResultsFolder{batch_.head().out}.trials().string()));
    return section;
  }

  // The sparkline of the best trial.
  std::string Spark() {
    const TrialProgress* best = Best();
    const LiveTrial* live = best != nullptr ? batch_.Find(best->id) : nullptr;
    std::vector<double> values;
    for (const char* name : {"return", "eval/return"}) {
      if (live == nullptr || !live->curves().contains(name)) continue;
      values.clear();
      for (const ThinSeries::Point& point : live->curves().at(name).Points()) values.push_back(point.value);
    }
    return Sparkline(values);
  }

  Section Trials() {
    Table table{"trials", "", {}, {}, {}, notes_};
    table.columns = {{"name", "trial", "", "point and seed"},
                     {"state", "state", "", ""},
                     {"progress", "done", "%", "of its budget", 1, 3},
                     {"return", "return", "", "mean over the last episodes", 1},
                     {"sps", "steps/s", "", "of the last iteration", 1, 3},
                     {"iteration", "iteration", "", "", 1, 9},
                     {"elapsed_s", "time", "s", "of the last attempt", 0, 3},
                     {"attempt", "attempt", "", "", 0, 3, false},
                     {"why", "remark", "", "reason of a failure"},
                     {"id", "folder", "", "of its files", 0, 4, true, (ResultsFolder{batch_.head().out}.trials()).string()}};
    for (const size_t i : order_) {
      if (table.rows.size() == kMostRows) break;
      table.rows.push_back(RowOf(batch_.trials()[i]));
    }
    if (order_.size() > kMostRows)
      table.notes.push_back(fmt::format("{} more trials are in progress.json.", order_.size() - kMostRows));
    return {"trials", "Trials", {FigureUse{"curves"}, std::move(table)}};
  }

  Section Further() const {
    Section section{"machine", "Further curves, resources and phases", {}};
    for (const Figure& figure : document_.figures)
      if (figure.name != "curves" && figure.picks != Figure::Picks::kNone) section.blocks.emplace_back(FigureUse{figure.name});
    return section;
  }

  Section Logs() const {
    Section section{"logs", "Logs", {}};
    size_t shown = 0;
    for (const size_t i : order_) {
      const TrialProgress& trial = batch_.trials()[i];
      if (trial.attempt == 0 || (trial.state != TrialState::kRunning && trial.state != TrialState::kFailed)) continue;
      if (shown++ == kMostLogs) break;
      const AttemptFolder folder = ResultsFolder{batch_.head().out}.attempt(trial.id, trial.attempt);
      for (const auto& file : {folder.standard_output(), folder.standard_error()}) AddLog(trial.name, file, &section);
    }
    std::filesystem::path session;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(ResultsFolder{batch_.head().out}.logs(), error))
      if (session.empty() || entry.last_write_time(error) > std::filesystem::last_write_time(session, error))
        session = entry.path();
    AddLog("the batch", session, &section);
    return section;
  }

 private:
  static std::string Duration(double seconds) {
    const auto whole = static_cast<int64_t>(std::max(0.0, seconds));
    return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                        : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }

  // Running trials first, then failed ones, then the latest ended, then waiting ones.
  std::vector<size_t> Order() const {
    std::vector<std::pair<std::pair<int, double>, size_t>> keys;
    for (size_t i = 0; i < batch_.trials().size(); ++i) {
      const TrialProgress& trial = batch_.trials()[i];
      const TrialRecord* record = batch_.record().Find(trial.id);
      const double ended = record != nullptr && !record->attempts.empty() ? record->attempts.back().ended.value_or(0) : 0;
      const bool is_bad = trial.state == TrialState::kFailed || trial.state == TrialState::kLost;
      const int rank = trial.state == TrialState::kRunning ? 0 : is_bad ? 1 : ended > 0 ? 2 : 3;
      keys.push_back({{rank, -ended}, i});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<size_t> order;
    for (const auto& [key, i] : keys) order.push_back(i);
    return order;
  }

  const TrialProgress* Best() const {
    const TrialProgress* best = nullptr;
    for (const TrialProgress& trial : batch_.trials()) {
      const bool has_failed = IsFinal(trial.state) && !IsFinished(trial.state);
      const bool known = !has_failed && trial.episode_return && std::isfinite(*trial.episode_return);
      if (known && (best == nullptr || *trial.episode_return > *best->episode_return)) best = &trial;
    }
    return best;
  }

  std::vector<Cell> RowOf(const TrialProgress& trial) {
    const auto cell = [](const std::optional<double>& value) { return value ? Cell{Reading(*value)} : Cell{}; };
    const TrialRecord* record = batch_.record().Find(trial.id);
    std::optional<double> elapsed;
    if (record != nullptr && !record->attempts.empty())
      // An attempt may have started since the progress was written.
      elapsed =
          std::max(0.0, record->attempts.back().ended.value_or(batch_.progress().updated) - record->attempts.back().placed);
    const LiveTrial* live = batch_.Find(trial.id);
    const std::optional<uint64_t> at = live != nullptr ? live->iteration() : std::nullopt;
    return {trial.name,
            Word(trial.state),
            cell(trial.progress ? std::optional(100 * *trial.progress) : std::nullopt),
            cell(trial.episode_return),
            cell(trial.sps),
            cell(at ? std::optional(static_cast<double>(*at)) : std::nullopt),
            cell(elapsed),
            Reading(trial.attempt),
            trial.why,
            trial.id};
  }

  // All curves, in order of interest.
  std::vector<std::string> Names() {
    std::vector<std::string> names = {"eval/return", "return"};
    const auto add = [&](const std::string& name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    for (const auto& asked : At(At(batch_.head().config, "output"), "live")) add(Text(asked));
    add("sps");
    for (const ResourceChart& chart : kResourceCharts) add(chart.measure);
    std::set<std::string> there;
    for (const size_t i : order_) {
      const LiveTrial* live = batch_.Find(batch_.trials()[i].id);
      if (live == nullptr) continue;
      for (const auto& [name, curve] : live->curves()) there.insert(name);
    }
    for (const std::string& name : there) add(name);
    std::erase_if(names, [&](const std::string& name) { return !there.contains(name); });
    return names;
  }

  std::string DataOf(const std::string& name) {
    std::string data;
    for (const size_t i : order_) {
      LiveTrial* live = batch_.Find(batch_.trials()[i].id);
      if (live == nullptr || !live->curves().contains(name)) continue;
      data += (data.empty() ? "\n\"" : ",\n\"") + batch_.trials()[i].id + "\":" + live->CurveJson(name);
    }
    return data;
  }

  std::string TrialsJson() {
    std::string json;
    for (const TrialProgress& trial : batch_.trials()) {
      if (batch_.Find(trial.id) == nullptr) continue;
      json += fmt::format("{}\"{}\":[{},{}]", json.empty() ? "" : ",\n", trial.id, JsonText(nlohmann::json(trial.name)),
                          places_.at(trial.id) % kPlaces);
    }
    return json;
  }

  std::vector<std::string> DefaultPicks() {
    std::vector<std::string> picks;
    const auto pick = [&](const TrialProgress* trial) {
      if (trial != nullptr && picks.size() < kMostPicks && batch_.Find(trial->id) != nullptr &&
          std::find(picks.begin(), picks.end(), trial->id) == picks.end())
        picks.push_back(trial->id);
    };
    pick(Best());
    for (const size_t i : order_) pick(&batch_.trials()[i]);
    return picks;
  }

  // Series are numbers of picks; the page's script inserts the names.
  void Add(const char* name, const std::string& title, const std::vector<Panel>& panels) {
    if (panels.empty()) return;
    std::vector<std::string> series;
    for (size_t i = 0; i < kPlaces; ++i) series.push_back(std::to_string(i));
    Figure figure;
    figure.name = name;
    figure.title = figure.alt = title;
    figure.picks = Figure::Picks::kSeries;
    figure.columns = std::min<size_t>(panels.size(), 3);
    figure.choices = nlohmann::json::array({Smoothing()});
    for (const Panel& panel : panels)
      figure.panels.push_back(View(CurvePanel{{panel.title, panel.x, panel.y, "trial"}}, Palette("name", series)));
    document_.figures.push_back(std::move(figure));
  }

  // The page's script replaces this panel by one per picked trial.
  void AddPhases(const std::vector<Phase>& phases) {
    if (phases.empty()) return;
    Figure figure;
    figure.name = kPhasesFigure;
    figure.title = figure.alt = "Share of the time of all threads in each phase of the picked trials";
    figure.picks = Figure::Picks::kPanels;
    figure.columns = 3;
    figure.panels.push_back(PhasesPanel("phases", phases, "trial"));
    document_.figures.push_back(std::move(figure));
  }

  PhaseSet SeenPhases() {
    PhaseSet seen = {};
    for (const TrialProgress& trial : batch_.trials()) {
      const LiveTrial* live = batch_.Find(trial.id);
      const PhaseSet here = live != nullptr ? live->phases().Seen() : PhaseSet{};
      for (size_t p = 0; p < kPhaseCount; ++p) seen[p] |= here[p];
    }
    return seen;
  }

  std::string PhasesOf(const std::vector<Phase>& phases) {
    std::string data;
    for (const size_t i : order_) {
      LiveTrial* live = batch_.Find(batch_.trials()[i].id);
      if (live == nullptr || live->phases().stretches().empty()) continue;
      data += (data.empty() ? "\n\"" : ",\n\"") + batch_.trials()[i].id + "\":" + live->PhasesJson(phases);
    }
    return data;
  }

  static void AddLog(const std::string& whose, const std::filesystem::path& file, Section* section) {
    std::string text;
    for (const std::string& line : LastLines(file, kLogLines)) text += line + "\n";
    if (!text.empty())
      section->blocks.emplace_back(CodeBlock{fmt::format("{}: {}", whose, file.filename().string()), "", text});
  }

  LiveBatch& batch_;
  Document& document_;
  std::map<std::string, size_t> places_;  // of trials in the plan
  std::vector<size_t> order_;
  std::vector<std::string> notes_;
};

}  // namespace

Document LiveDocument::Of(LiveBatch* batch) {
  Document document;
  Builder builder(batch, &document);
  Update(*batch);
  builder.Head(answer_);
  builder.Curves();
  std::optional<Section> search = builder.Search();
  document.sections = {builder.Trials(), FindingsSection(diagnosis_), builder.Further(), builder.Logs()};
  if (batch->ended().empty()) document.sections[1].blocks = {Paragraph{"No ended trial has been read yet."}};
  document.sparkline = builder.Spark();
  if (search) document.sections.insert(document.sections.begin(), std::move(*search));
  std::erase_if(document.sections, [](const Section& section) { return section.blocks.empty(); });
  document.main_table = "trials";
  return document;
}

void LiveDocument::Update(const LiveBatch& batch) {
  if (diagnosed_ == batch.changes()) return;
  diagnosed_ = batch.changes();
  ResultSet set = batch.head();
  set.trials.assign(batch.ended().begin(), batch.ended().end());
  diagnosis_ = set.trials.empty() ? Diagnosis{} : Diagnose(Combine({set}), nullptr, HelpsOf({set}));
  AddTryCommands({set}, program_, &diagnosis_);
  // A search and a comparison print their own results.
  const bool asks = batch.record().search.open.is_null() && At(set.config, "compare").is_null();
  answer_ = asks && batch.HasAllEnded() && !set.trials.empty() ? FirstSentence({set}, program_) : "";
}

}  // namespace backplane
