#include "study/tune_batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "arguments/command.hpp"
#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/format_count.hpp"
#include "base/json_path.hpp"
#include "base/scratch_folder.hpp"
#include "base/suggest.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "record/list_sweep.hpp"
#include "record/report_requests.hpp"
#include "study/bench_file.hpp"
#include "study/host_program.hpp"
#include "study/planned_runs.hpp"
#include "text/change_arguments.hpp"
#include "yaml/yaml_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr char kNow[] = "now", kTry[] = "try", kOriginal[] = "original", kTuned[] = "tuned";
constexpr double kIterationsOfATrial = 4;  // one warms up

std::string WhyNoSpeed(const TrialMeasures& trial, const std::string& measure) {
  if (trial.usable) return "has no " + measure + " above 0; its warm-up iteration may have taken all the time";
  if (!trial.outcome) return Word(trial.state) + (trial.why.empty() ? "" : ": " + trial.why);
  return fmt::format("{} ({}){}", Word(trial.state), Word(trial.outcome), trial.why.empty() ? "" : ": " + trial.why);
}

std::optional<double> Positive(const TrialMeasures& trial, const std::string& measure) {
  const double* number = trial.usable ? trial.Find(measure) : nullptr;
  if (!number || !std::isfinite(*number) || *number <= 0) return std::nullopt;
  return *number;
}

std::optional<double> HeadroomOf(const std::vector<TrialMeasures>& trials) {
  std::vector<double> ratios;
  for (const TrialMeasures& trial : trials) {
    const std::optional<double> all = Positive(trial, "SPS"), collecting = Positive(trial, "sampling_sps");
    if (all && collecting) ratios.push_back(*collecting / *all);
  }
  return ratios.empty() ? std::nullopt : std::optional(statistics::GeometricMean(ratios));
}

// Throws if no trial has the measure, or if its better direction is unknown.
void RequireMeasure(const BatchMeasures& set, const std::string& measure, const char* option) {
  std::vector<std::string> names;
  for (const TrialMeasures& trial : set.trials) {
    if (!trial.usable) continue;
    if (trial.Find(measure)) {
      if (set.direction != 0) return;
      throw std::runtime_error(
          fmt::format("{} {}: expected a measure with a better direction, got one without", option, measure));
    }
    for (const auto& [name, number] : trial.values) names.push_back(name);
  }
  // A trial without a speed does not show which measures exist.
  if (names.empty() || set.is_of_host) return;
  throw std::runtime_error(
      fmt::format("{} {}: no trial has this measure{}", option, measure, DidYouMean(Nearest(measure, Candidates(names)))));
}

// Seeds that diverged count as the worst score seen.
std::vector<double> ScoresOf(const BatchMeasures& set, const std::string& point, const std::string& measure, double worst,
                             std::string* why_missing) {
  std::vector<double> scores;
  for (const TrialMeasures& trial : set.trials) {
    if (trial.point != point) continue;
    const double* number = trial.usable ? trial.Find(measure) : nullptr;
    const bool diverged = trial.outcome == Outcome::kNan || (number && !std::isfinite(*number));
    if (diverged) {
      scores.push_back(worst);
    } else if (number) {
      scores.push_back(*number);
    } else if (why_missing->empty()) {
      *why_missing = fmt::format("{}, seed {}: {}", point, trial.seed,
                                 trial.usable ? "no " + measure + " was recorded" : WhyNoSpeed(trial, measure));
    }
  }
  return scores;
}

double WorstOf(const BatchMeasures& set, const std::string& measure, int direction) {
  std::optional<double> worst;
  for (const TrialMeasures& trial : set.trials) {
    const double* number = trial.usable ? trial.Find(measure) : nullptr;
    if (!number || !std::isfinite(*number)) continue;
    if (!worst || direction * (*number - *worst) < 0) worst = *number;
  }
  return worst.value_or(0);
}

std::vector<double> SpeedsOf(const BatchMeasures& set, const std::string& point) {
  std::vector<double> speeds;
  for (const TrialMeasures& trial : set.trials) {
    if (trial.point != point) continue;
    if (const std::optional<double> sps = Positive(trial, "SPS")) speeds.push_back(*sps);
  }
  return speeds;
}

// Absent if the report program failed, which does not end a tuning whose trials ran.
std::optional<BatchMeasures> MeasuresOrWhyNot(const std::filesystem::path& out, const std::string& measure, bool diagnose,
                                              std::string* why_not) {
  try {
    return MeasuresOf(out, measure, diagnose);
  } catch (const std::exception& error) {
    *why_not = "cannot read the measures: " + WordsOf(error);
    return std::nullopt;
  }
}

uint64_t Rounded(double steps) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(1.0, steps))) - 1));
  return static_cast<uint64_t>(std::max(1.0, std::floor(steps / unit) * unit));
}

}  // namespace

json TuneBatches::With(const std::vector<Change>& kept) const {
  json config = ToJson(setup_.experiment);
  for (const Change& change : kept) Apply(change, &config);
  return config;
}

std::optional<Measurement> TuneBatches::Measure(size_t step, const std::vector<Change>& kept, const Change* tried) {
  if (record_->times.size() <= step) record_->times.resize(step + 1);
  if (!setup_.quiet && tried) {
    fmt::print("step {}: {}\n  because: {}\n", step, ChangeText(tried->fix), tried->why);
    std::fflush(stdout);
  } else if (!setup_.quiet) {
    fmt::print("unchanged {}, {} trials of {:g} s\n", setup_.experiment.name, kSeedsAsItIs, setup_.seconds);
    std::fflush(stdout);
  }
  const std::filesystem::path out = setup_.out / "steps" / std::to_string(step);
  StepTime& time = record_->times[step];
  Ran ran = RunMeasurement(step, kept, tried, out);
  if (!ran.interrupted && step == 0 && ran.refused.empty()) {
    LookAtIterations(out);
    if (const double longer = kIterationsOfATrial * iteration_s_; longer > setup_.seconds) {
      setup_.seconds = std::ceil(longer);
      if (!setup_.quiet)
        fmt::print("  an iteration takes {:.1f} s, so trials take {:g} s from now on\n", iteration_s_, setup_.seconds);
      const double before = ran.seconds;
      ran = RunMeasurement(step, kept, tried, out);
      ran.seconds += before;
      if (!ran.interrupted) LookAtIterations(out);
    }
  }
  if (!time.whole) time.seconds += ran.seconds;
  time.whole |= !ran.interrupted;
  record_->Write();
  if (ran.interrupted) return std::nullopt;
  Measurement measurement;
  measurement.seconds = time.seconds;
  std::string& why_missing = (tried ? measurement.tried : measurement.now).why_missing;
  was_refused_ = step == 0 && !ran.refused.empty();
  if (!ran.refused.empty()) {
    why_missing = ran.refused;
    measurement.next_s = pair_s_;
    return measurement;
  }
  const std::optional<BatchMeasures> read = MeasuresOrWhyNot(out, setup_.measure, /*diagnose=*/true, &why_missing);
  if (!read) {
    measurement.next_s = pair_s_;
    return measurement;
  }
  const BatchMeasures& set = *read;
  if (step == 0) {
    was_refused_ = std::none_of(set.trials.begin(), set.trials.end(), [](const TrialMeasures& trial) { return trial.has_run; });
    RequireMeasure(set, setup_.measure, "--for");
    direction_ = static_cast<int>(set.direction);
  }
  measurement.direction = direction_;
  measurement.now = SideOf(set, kNow, ran, &measurement.busy);
  if (tried) measurement.tried = SideOf(set, kTry, ran, &measurement.busy);
  if (!tried) {
    const double to_start_a_trial = std::max(0.0, time.seconds / static_cast<double>(kSeedsAsItIs) - setup_.seconds);
    pair_s_ = 2 * static_cast<double>(setup_.seeds) * (setup_.seconds + to_start_a_trial);
  } else if (measurement.now.why_missing.empty() && measurement.tried.why_missing.empty()) {
    pair_s_ = time.seconds;  // failing trials take less
  }
  measurement.next_s = pair_s_;
  return measurement;
}

TuneBatches::Ran TuneBatches::RunMeasurement(size_t step, const std::vector<Change>& kept, const Change* tried,
                                             const std::filesystem::path& out) const {
  Experiment now = ExperimentFromJson(With(kept));
  now.name += "_tune_" + std::to_string(step);
  BenchPlan plan{setup_.seconds, tried ? setup_.seeds : kSeedsAsItIs, {{kNow, {}}}, out.string()};
  if (tried) plan.points.push_back({kTry, ValuesOf(std::vector<Change>{*tried})});
  const std::string what = tried ? ChangeText(tried->fix) : "unchanged";
  return RunFile(out.string() + ".yaml", out, SpeedExperiment(now, plan, setup_.has_gpu),
                 fmt::format("Step {} of tuning {}: {}.", step, setup_.experiment.name, what));
}

TuneBatches::Ran TuneBatches::RunFile(const std::filesystem::path& file, const std::filesystem::path& out, const json& content,
                                      const std::string& comment) const {
  const auto begin = std::chrono::steady_clock::now();
  Ran ran;
  std::string line = comment;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::filesystem::create_directories(file.parent_path());
  WriteFileAtomic(file, "# " + line + "\n" + YamlText(content, {}));
  const ScratchFolder scratch;
  PlannedRun planned;
  planned.file = file;
  planned.plugin_path = setup_.plugin_path;
  planned.out = planned.typed_out = out;
  planned.end = scratch.path() / "end.json";
  RunArgs args;
  args.typed_program = setup_.typed_program;
  args.skip_invalid = true;
  const int code = RunPlanned(planned, args);
  const std::optional<std::string> text = ReadFile(*planned.end);
  if (!text && code == kUsage) throw std::runtime_error(file.string() + " cannot be run on this machine");
  if (!text) throw HostEnded(code);
  const auto end = RecordFromJson<PlannedRunEnd>(json::parse(*text));
  ran.refused = end.refused_file;
  if (!ran.refused.empty()) return ran;
  ran.interrupted = end.interrupted;
  if (!end.refused.empty()) throw std::runtime_error(end.refused + "tune --fresh moves " + setup_.out.string() + " aside");
  ran.complaints = end.complaints;
  if (!ran.interrupted && !end.paused.empty()) ran.complaints.push_back("paused: " + end.paused);
  if (!ran.interrupted && end.paused.empty() && end.not_run > 0)
    ran.complaints.push_back(fmt::format("{} of {} trials were not run", end.not_run, end.trials));
  if (!ran.interrupted && end.not_run < end.trials) {
    try {
      ReportProgram().Ask("--make", ToJson(RequestFor(out, setup_.typed_program)));
    } catch (const std::exception& error) {  // the numbers exist nevertheless
      LogError("backplane: cannot write the report of {}: {}", out.string(), WordsOf(error));
    }
  }
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ran;
}

void TuneBatches::LookAtIterations(const std::filesystem::path& out) {
  std::string said_later;
  const std::optional<BatchMeasures> set = MeasuresOrWhyNot(out, "", /*diagnose=*/false, &said_later);
  if (!set) return;
  for (const TrialMeasures& trial : set->trials) {
    if (const std::optional<double> sps = Positive(trial, "SPS")) sps_ = *sps;
    const std::optional<double> iterations = Positive(trial, "iterations"), steps = Positive(trial, "env_steps"),
                                wall = Positive(trial, "wall_s");
    if (iterations && steps) steps_per_iteration_ = *steps / *iterations;
    if (iterations && wall) iteration_s_ = *wall / *iterations;
  }
}

MeasuredSide TuneBatches::SideOf(const BatchMeasures& set, const std::string& point, const Ran& ran, bool* busy) {
  MeasuredSide side;
  std::vector<TrialMeasures> own;
  for (const TrialMeasures& trial : set.trials)
    if (trial.point == point) own.push_back(trial);
  size_t missing = 0;
  std::string why;
  for (const TrialMeasures& trial : own) {
    if (const std::optional<double> speed = Positive(trial, setup_.measure)) {
      side.speeds.push_back(*speed);
    } else if (missing++ == 0) {
      why = trial.state == TrialState::kPlanned && !ran.complaints.empty() ? ran.complaints.front()
                                                                           : WhyNoSpeed(trial, setup_.measure);
    }
  }
  if (missing > 0) side.why_missing = fmt::format("{} of {} trials: {}", missing, own.size(), why);
  side.headroom = HeadroomOf(own);
  for (const PointDiagnosis& diagnosis : set.points) {
    if (diagnosis.point != point) continue;
    side.proposals = SpeedChangesOf(diagnosis.proposals);
    *busy |= diagnosis.busy;
  }
  return side;
}

std::string TuneBatches::CheckMeasure() const {
  if (!setup_.check_measure.empty()) return setup_.check_measure;
  return setup_.experiment.evaluation.episodes > 0 ? "eval/return" : "return";
}

CheckLength TuneBatches::LengthOfCheck() const {
  const auto steps = [](uint64_t count, const std::string& why) {
    CheckLength length;
    length.budget.env_steps = count;
    length.text = fmt::format("{} env steps ({})", FormatCount(count), why);
    return length;
  };
  const BudgetConfig& own = setup_.experiment.budget;
  if (setup_.check_steps > 0) return steps(setup_.check_steps, "by --check-steps");
  if (steps_per_iteration_ <= 0) {
    CheckLength length{own, "the experiment's own budget"};
    length.budget.wall_time_s.reset();
    length.budget.until.reset();  // trials of one length have comparable last values
    return length;
  }
  double count = own.env_steps ? static_cast<double>(*own.env_steps) : 0;
  if (own.iterations) {
    const double of_iterations = static_cast<double>(*own.iterations) * steps_per_iteration_;
    count = count > 0 ? std::min(count, of_iterations) : of_iterations;
  }
  const double most = sps_ * kLongestCheckTrial_s;
  if (count > 0 && (most <= 0 || count <= most))
    return steps(static_cast<uint64_t>(std::llround(count)), "the experiment's own budget");
  if (most <= 0) return {};
  return steps(Rounded(most), fmt::format("about {:g} s; --check-steps N changes it", kLongestCheckTrial_s));
}

std::optional<LearningScores> TuneBatches::Learn(const std::vector<Change>& kept) {
  const std::filesystem::path out = setup_.out / "check";
  const CheckLength length = LengthOfCheck();
  const std::string measure = CheckMeasure();
  Experiment check = setup_.experiment;
  check.name += "_tune_check";
  check.preset.reset();
  check.budget = length.budget;
  check.checkpoint = {};
  check.resources.exclusive = true;
  check.live.clear();
  check.output_dir = out.string();
  check.report_dir.reset();
  check.progress_file.reset();
  check.report = {};
  check.report.kind = "comparison";
  check.report.name = "check";
  check.report.timing = true;
  check.report.baseline = kOriginal;
  check.report.columns = {"SPS", measure};
  ListSweep sweep{.list = {}, .seeds = SweepSeeds{kSeedsOfCheck, setup_.experiment.seed}};
  sweep.Add(kOriginal, {});
  sweep.Add(kTuned, ValuesOf(kept));
  json content = ToJson(check);
  Overwrite(SweepSection{sweep}, &content);
  if (!setup_.quiet) {
    std::string values;
    for (const auto& [path, value] : ValuesOf(kept)) values += (values.empty() ? "" : ", ") + path + ": " + value.dump();
    fmt::print("check of learning with {}\n  {} seeds per side, {} each\n", values, kSeedsOfCheck, length.text);
    std::fflush(stdout);
  }
  const Ran ran = RunFile(out.string() + ".yaml", out, content, "Effect of tuning " + setup_.experiment.name + " on learning.");
  if (ran.interrupted) return std::nullopt;
  LearningScores scores;
  scores.measure = measure;
  scores.why_missing = ran.refused;
  if (!ran.refused.empty()) return scores;
  const std::optional<BatchMeasures> read = MeasuresOrWhyNot(out, measure, /*diagnose=*/false, &scores.why_missing);
  if (!read) return scores;
  const BatchMeasures& set = *read;
  RequireMeasure(set, measure, "--check-metric");
  scores.direction = set.direction < 0 ? -1 : 1;
  const double worst = WorstOf(set, measure, scores.direction);
  scores.original = ScoresOf(set, kOriginal, measure, worst, &scores.why_missing);
  scores.tuned = ScoresOf(set, kTuned, measure, worst, &scores.why_missing);
  scores.speeds_original = SpeedsOf(set, kOriginal);
  scores.speeds_tuned = SpeedsOf(set, kTuned);
  return scores;
}

}  // namespace backplane
