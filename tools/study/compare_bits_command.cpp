#include "study/compare_bits_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "arguments/command.hpp"
#include "base/json_text.hpp"
#include "input/experiment_file.hpp"
#include "log/log.hpp"
#include "record/compare_bits.hpp"
#include "record/plan_file.hpp"
#include "record/trial_names.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// One side of a comparison.
struct Side {
  std::vector<PlanLine> plan;  // without dropped points; empty: one trial, and no results folder
  bool several_seeds = false;
  fs::path folder;

  fs::path OfTrial(const PlanLine& line) const { return ResultsFolder{folder}.trial(line.trial_id).folder; }
  std::string NameOf(const PlanLine& line) const { return DisplayName(line, several_seeds); }
};

// An error if the folder has no recorded bits.
std::string Open(const fs::path& folder, Side* out) {
  out->folder = folder;
  if (IsResultsFolder(folder)) {
    out->plan = ReadPlanFile(ResultsFolder{folder}.plan());
    std::erase_if(out->plan, [](const PlanLine& line) { return line.dropped; });
    out->several_seeds = HasSeveralSeeds(out->plan);
    return "";
  }
  std::error_code error;
  if (TrialFolder{folder}.LastAttempt() > 0 || fs::exists(AttemptFolder(folder).metrics(), error) ||
      fs::exists(AttemptFolder(folder).fingerprints(), error))
    return "";
  return fmt::format("expected the folder of a batch (OUT), trial (OUT/trials/ID) or attempt, got {}", folder.string());
}

bool SameSetting(const PlanLine& a, const PlanLine& b) {
  return a.values == b.values && a.seed == b.seed && a.stage == b.stage;
}

class BitsReport {
 public:
  void Add(std::string name, const fs::path& a, const fs::path& b) {
    ComparedBits compared = CompareBits(RecordedBits(a), RecordedBits(b));
    compared.name = std::move(name), compared.a = a.string(), compared.b = b.string();
    trials_.push_back(std::move(compared));
  }

  // Pairs trials by id or, across builds of a plugin, by settings and seed.
  void AddAll(const Side& a, const Side& b) {
    std::vector<PlanLine> left = b.plan;
    const auto pair = [&](const PlanLine& line, auto&& same) {
      const auto found = std::ranges::find_if(left, [&](const PlanLine& other) { return same(line, other); });
      if (found == left.end()) return false;
      Add(a.NameOf(line), a.OfTrial(line), b.OfTrial(*found));
      left.erase(found);
      return true;
    };
    std::vector<PlanLine> rest;
    for (const PlanLine& line : a.plan)
      if (!pair(line, [](const PlanLine& x, const PlanLine& y) { return x.trial_id == y.trial_id; })) rest.push_back(line);
    std::erase_if(rest, [&](const PlanLine& line) { return pair(line, SameSetting); });
    for (const PlanLine& line : rest) only_a_.push_back(a.NameOf(line));
    for (const PlanLine& line : left) only_b_.push_back(b.NameOf(line));
  }

  int Show(const Side& a, const Side& b, bool json, bool quiet) const {
    const bool equal = !trials_.empty() && std::ranges::all_of(trials_, &ComparedBits::equal);
    if (json) {
      nlohmann::ordered_json trials = nlohmann::ordered_json::array();
      for (const ComparedBits& trial : trials_) trials.push_back(ToJson<nlohmann::ordered_json>(trial));
      std::printf("%s\n", JsonText<nlohmann::ordered_json>({{"equal", equal},
                                                            {"sentence", Headline()},
                                                            {"trials", std::move(trials)},
                                                            {"only_a", only_a_},
                                                            {"only_b", only_b_}},
                                                           1)
                              .c_str());
      return equal ? kOk : kFailed;
    }
    std::printf("%s\n", Headline().c_str());
    if (!quiet) PrintTrials(a, b);
    return equal ? kOk : kFailed;
  }

 private:
  std::string Headline() const {
    if (trials_.empty()) return "no trial is in both folders";
    if (trials_.size() == 1) return trials_.front().Sentence() + Alone();
    uint64_t differ = 0, equal = 0, iterations = 0, hashes = 0;
    for (const ComparedBits& trial : trials_) {
      equal += trial.equal() ? 1 : 0, differ += trial.first_difference ? 1 : 0;
      iterations += trial.iterations, hashes += trial.hashes;
    }
    if (equal == trials_.size())
      return fmt::format("equal bit for bit: {} trials, {} iterations, {} hashes", equal, iterations, hashes) + Alone();
    return fmt::format("{} of {} trials differ, {} are equal, {} cannot be compared", differ, trials_.size(), equal,
                       trials_.size() - differ - equal) +
           Alone();
  }
  // "; 9 trials are only in one folder"
  std::string Alone() const {
    const size_t alone = only_a_.size() + only_b_.size();
    return alone == 0 ? "" : fmt::format("; {} {} only in one folder", alone, alone == 1 ? "trial is" : "trials are");
  }
  void PrintTrials(const Side& a, const Side& b) const {
    for (const ComparedBits& trial : trials_) {
      if (trials_.size() > 1) std::printf("  %s: %s\n", trial.name.c_str(), trial.Sentence().c_str());
      for (const std::string& note : trial.notes) std::printf("  note: %s\n", note.c_str());
    }
    for (const auto& [names, side] : {std::pair(&only_a_, &a), std::pair(&only_b_, &b)})
      for (const std::string& name : *names) std::printf("  only %s has %s\n", side->folder.c_str(), name.c_str());
  }

  std::vector<ComparedBits> trials_;
  std::vector<std::string> only_a_, only_b_;
};

}  // namespace

int CompareBitsCommand(const std::vector<fs::path>& subjects, bool json, bool quiet) {
  if (subjects.size() != 2) {
    LogError("backplane: compare --bits: expected two folders, got {}", subjects.size());
    return kUsage;
  }
  Side sides[2];
  for (size_t i = 0; i < 2; ++i) {
    if (const std::string wrong = Open(subjects[i], &sides[i]); !wrong.empty()) {
      LogError("backplane: compare --bits: {}", wrong);
      return kUsage;
    }
  }
  // A trial compared with a results folder is compared with its only trial.
  const bool of_one[] = {sides[0].plan.empty(), sides[1].plan.empty()};
  BitsReport report;
  if (!of_one[0] && !of_one[1]) {
    report.AddAll(sides[0], sides[1]);
  } else {
    fs::path folders[2];
    for (size_t i = 0; i < 2; ++i) {
      if (sides[i].plan.size() > 1) {
        LogError("backplane: compare --bits: expected one trial to compare with {}, got {} in {}\nhint: name one: {}/trials/ID",
                 subjects[1 - i].string(), sides[i].plan.size(), subjects[i].string(), subjects[i].string());
        return kUsage;
      }
      folders[i] = of_one[i] ? subjects[i] : sides[i].OfTrial(sides[i].plan.front());
    }
    report.Add("", folders[0], folders[1]);
  }
  return report.Show(sides[0], sides[1], json, quiet);
}

}  // namespace backplane
