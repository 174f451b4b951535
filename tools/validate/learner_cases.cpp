// Cases of a learner: its act, its plans and updates, its saved state.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <sstream>

#include "plugin/reads_budget.hpp"
#include "rollout/channel_table.hpp"
#include "rollout/clocks.hpp"
#include "rollout/readable.hpp"
#include "validate/at_once.hpp"
#include "validate/case_table.hpp"
#include "validate/doing.hpp"
#include "validate/driven_learner.hpp"
#include "validate/policy_case.hpp"
#include "validate/use.hpp"

namespace backplane {
namespace {

void FillActed(DrivenLearner& learner, std::byte with, std::optional<RowsRange> but = {}) {
  for (const bp_channel* c : learner.learner().act_out()) {
    ChannelBuffer& buffer = learner.Output(c->name);
    for (uint64_t r = 0; r < learner.rows(); ++r)
      if (!but || r < but->begin || r >= but->end)
        std::memset(learner.RowOf(buffer, r), static_cast<int>(with), learner.RowBytesOf(buffer));
  }
}

std::vector<std::vector<std::byte>> Acted(DrivenLearner& learner) {
  std::vector<std::vector<std::byte>> rows;
  for (uint64_t r = 0; r < learner.rows(); ++r) rows.push_back(learner.ActedBytes(r));
  return rows;
}

std::vector<std::byte> InputBytes(DrivenLearner& learner) {
  std::vector<std::byte> all;
  for (const std::string& name : learner.learner().act_in()) {
    ChannelBuffer& buffer = learner.Buffer(name);
    for (uint64_t r = 0; r < learner.rows(); ++r)
      all.insert(all.end(), learner.RowOf(buffer, r), learner.RowOf(buffer, r) + learner.RowBytesOf(buffer));
  }
  return all;
}

// "channel 'action', element 0"
std::string PlaceOf(DrivenLearner& learner, uint64_t offset) {
  for (const bp_channel* c : learner.learner().act_out()) {
    const uint64_t bytes = learner.RowBytesOf(learner.Output(c->name));
    if (offset < bytes) return fmt::format("channel '{}', element {}", c->name, offset / (c->dtype.bits / 8u));
    offset -= bytes;
  }
  return "";
}

constexpr RowsRange kMiddle{2, 6};

void ActWritesItsRows(Subject& subject, CaseResult*) {
  DrivenLearner learner(subject, {});
  const std::vector<std::byte> seen = InputBytes(learner);
  FillActed(learner, std::byte{0xa5});
  learner.Act(kMiddle, BP_ACT_EXPLORE, 0);
  const auto first = Acted(learner);
  FillActed(learner, std::byte{0x5b});
  learner.Act(kMiddle, BP_ACT_EXPLORE, 0);
  const auto second = Acted(learner);
  learner.CheckGuards();
  if (InputBytes(learner) != seen) FailCase("act", "no change of its inputs", "a change");
  for (uint64_t r = 0; r < learner.rows(); ++r) {
    const bool inside = r >= kMiddle.begin && r < kMiddle.end;
    for (uint64_t i = 0; i < first[r].size(); ++i) {
      const bool untouched = first[r][i] == std::byte{0xa5} && second[r][i] == std::byte{0x5b};
      const std::string place = fmt::format("act of {}, {} of row {}", RangeText(kMiddle), PlaceOf(learner, i), r);
      if (inside && untouched) FailCase(place, "a number written by every call", "the previous memory");
      if (!inside && !untouched) FailCase(place, "no write", "a change");
    }
  }
}

// The last output of `act`: finite, and among the valid choices.
void NeedSoundActs(DrivenLearner& learner, const std::string& when) {
  for (const bp_channel* c : learner.learner().act_out()) {
    ChannelBuffer& buffer = learner.Output(c->name);
    for (uint64_t r = 0; r < learner.rows(); ++r)
      for (uint64_t at = 0; at < learner.RowBytesOf(buffer); at += c->dtype.bits / 8u) {
        const std::byte* from = learner.RowOf(buffer, r) + at;
        const auto place = [&] { return fmt::format("{}, channel '{}' of row {}", when, c->name, r); };
        if (c->dtype.code == BP_DTYPE_FLOAT && c->dtype.bits == 32) {
          float value;
          std::memcpy(&value, from, sizeof value);
          if (!std::isfinite(value)) FailCase(place(), "a finite number", fmt::format("{}", value));
        } else if (c->role == BP_ROLE_ACTION && c->dtype.bits == 32 && c->nvec) {
          int32_t value;
          std::memcpy(&value, from, sizeof value);
          const uint64_t element = at / sizeof value % Elements(*c);
          const int64_t choices = c->nvec[c->space == BP_SPACE_MULTI_DISCRETE ? element : 0];
          if (value < 0 || value >= choices)
            FailCase(fmt::format("{}, element {}", place(), element), fmt::format("0 to {}", choices - 1),
                     fmt::format("{}", value));
        }
      }
  }
}

void ActIsSound(Subject& subject, CaseResult*) {
  DrivenLearner learner(subject, {});
  for (const uint32_t flags : {BP_ACT_EXPLORE, BP_ACT_GREEDY})
    for (uint64_t step = 0; step < 20; ++step) {
      learner.Act({0, learner.rows()}, flags, step);
      NeedSoundActs(learner, "act");
      learner.Remember();
    }
}

// Checks unique names, and finite numbers in the vectors. Returns their number; absent: the learner offers none.
std::optional<uint64_t> NeedSoundTensors(DrivenLearner& learner, const std::string& after) {
  const std::optional<bp_named_tensors> told = learner.Tensors();
  if (!told) return std::nullopt;
  const bp_named_tensors& named = *told;
  std::set<std::string> names;
  for (uint64_t i = 0; i < named.n; ++i) {
    if (!names.insert(named.names[i]).second) FailCase("tensors", "unique names", fmt::format("'{}' twice", named.names[i]));
    const bp_tensor& tensor = *named.tensors[i];
    int64_t elements = 1;
    for (int d = 0; d < tensor.ndim; ++d) elements *= tensor.shape[d];
    for (int64_t e = 0; e < elements && tensor.ndim < 2 && tensor.dtype.code == BP_DTYPE_FLOAT && tensor.dtype.bits == 32; ++e)
      if (const float value = static_cast<const float*>(tensor.data)[e]; !std::isfinite(value))
        FailCase(fmt::format("tensor '{}', element {}", named.names[i], e), "a finite number after " + after,
                 fmt::format("{}", value));
  }
  return named.n;
}

void NeedSameActs(DrivenLearner& learner, const std::vector<std::vector<std::byte>>& a,
                  const std::vector<std::vector<std::byte>>& b, const std::string& place, RowsRange range) {
  for (uint64_t r = range.begin; r < range.end; ++r) {
    const auto at = std::mismatch(a[r].begin(), a[r].end(), b[r].begin()).first - a[r].begin();
    if (static_cast<size_t>(at) < a[r].size())
      FailCase(fmt::format("{}, {} of row {}", place, PlaceOf(learner, static_cast<uint64_t>(at)), r), "the same bytes",
               "different bytes");
  }
}

void ActRepeats(Subject& subject, CaseResult*) {
  DrivenLearner learner(subject, {});
  learner.FillMemory();
  for (const uint32_t flags : {BP_ACT_GREEDY, BP_ACT_EXPLORE}) {
    learner.Act({0, learner.rows()}, flags, 5);
    const auto once = Acted(learner);
    learner.Act({0, learner.rows()}, flags, 6);
    learner.Act({0, learner.rows()}, flags, 5);
    NeedSameActs(learner, once, Acted(learner),
                 flags == BP_ACT_GREEDY ? "act GREEDY, twice" : "act EXPLORE, twice with one step", {0, learner.rows()});
  }
}

void ActReadsItsRows(Subject& subject, CaseResult*) {
  DrivenLearner learner(subject, {});
  learner.FillMemory();
  learner.Act(kMiddle, BP_ACT_GREEDY, 0);
  const auto clean = Acted(learner);
  for (const std::string& name : learner.learner().act_in()) {
    ChannelBuffer& buffer = learner.Buffer(name);
    for (uint64_t r = 0; r < learner.rows(); ++r)
      if (r < kMiddle.begin || r >= kMiddle.end) std::memset(learner.RowOf(buffer, r), 0xff, learner.RowBytesOf(buffer));
  }
  learner.Act(kMiddle, BP_ACT_GREEDY, 0);
  NeedSameActs(learner, clean, Acted(learner), "act with bytes 0xff in the other rows", kMiddle);
}

void RowExact(Subject& subject, CaseResult*) {
  DrivenLearner learner(subject, {});
  const bool exact = learner.learner().row_exact();
  learner.FillMemory();
  learner.Act({0, learner.rows()}, BP_ACT_GREEDY, 0);
  const auto together = Acted(learner);
  for (uint64_t r = 0; r < learner.rows(); ++r) learner.Act({r, r + 1}, BP_ACT_GREEDY, 0);
  const auto alone = Acted(learner);
  if (exact)
    return NeedSameActs(learner, together, alone, "a row by itself and with the others (ROW_EXACT is set)",
                        {0, learner.rows()});
  constexpr float kTolerance = 1e-4f;
  for (uint64_t r = 0; r < learner.rows(); ++r) {
    uint64_t offset = 0;
    for (const bp_channel* c : learner.learner().act_out()) {
      const uint64_t bytes = learner.RowBytesOf(learner.Output(c->name));
      for (uint64_t at = 0; c->dtype.code == BP_DTYPE_FLOAT && c->dtype.bits == 32 && at < bytes; at += sizeof(float)) {
        float a, b;
        std::memcpy(&a, together[r].data() + offset + at, sizeof a), std::memcpy(&b, alone[r].data() + offset + at, sizeof b);
        if (std::fabs(a - b) > kTolerance * (1 + std::fabs(a)))
          FailCase(fmt::format("a row by itself and with the others, channel '{}' of row {}", c->name, r),
                   "the same except for rounding", fmt::format("{} and {}", b, a));
      }
      offset += bytes;
    }
  }
}

void NeedConcurrent(const Subject& subject) {
  if ((subject.info().flags & BP_FLAG_ROWS_CONCURRENT) == 0) SkipCase("is called by one thread at a time (no ROWS_CONCURRENT)");
}

void ActInThreads(Subject& subject, CaseResult*) {
  NeedConcurrent(subject);
  DrivenLearner learner(subject, {});
  learner.FillMemory();
  const uint64_t half = learner.rows() / 2;
  const auto act_half = [&](RowsRange range) { learner.Act(range, BP_ACT_EXPLORE, 3); };
  act_half({0, half}), act_half({half, learner.rows()});
  const auto serial = Acted(learner);
  for (int round = 0; round < 50; ++round) {
    FillActed(learner, std::byte{0});
    AtOnce([&] { act_half({0, half}); }, [&] { act_half({half, learner.rows()}); });
    NeedSameActs(learner, serial, Acted(learner), "act in one thread and in two threads", {0, learner.rows()});
  }
}

void Learns(Subject& subject, CaseResult* result) {
  DrivenLearner learner(subject, {});
  const int64_t begin = NowNs();
  learner.Train(2);
  if (learner.env_steps() == 0 && !learner.done()) FailCase("2 iterations", "steps or items", "none");
  result->note = fmt::format("2 iterations in {:.2f} s, {} steps, {} ticks", static_cast<double>(NowNs() - begin) * 1e-9,
                             learner.env_steps(), learner.ticks());
}

void NeedSameRecord(DrivenLearner& a, DrivenLearner& b, const std::string& place) {
  const std::vector<std::byte> one = a.record(), other = b.record();
  if (one.size() != other.size()) FailCase(place, "the same state", fmt::format("{} bytes and {}", one.size(), other.size()));
  const auto at = std::mismatch(one.begin(), one.end(), other.begin()).first - one.begin();
  if (static_cast<size_t>(at) < one.size())
    FailCase(place, "the same state and actions, bit for bit", fmt::format("byte {} of {} differs", at, one.size()));
}

void SameSeedSameLearner(Subject& subject, CaseResult*) {
  NeedTwoInstances(subject);
  DrivenLearner first(subject, {});
  first.Train(1);
  DrivenLearner second(subject, {});
  second.Train(1);
  NeedSameRecord(first, second, "an iteration from the same seed, twice in one process");
}

void ThreadsChangeNothing(Subject& subject, CaseResult*) {
  NeedConcurrent(subject);
  NeedTwoInstances(subject);
  DrivenLearner one(subject, {}), two(subject, {.threads = 2});
  one.Train(1), two.Train(1);
  NeedSameRecord(one, two, "an iteration in one thread and in two");
}

// A word of an enum or a flag with which the option does not read the budget. Absent: there is none.
std::optional<nlohmann::json> ValueWithoutBudget(const OptionInfo& option) {
  std::vector<nlohmann::json> values;
  if (option.type == BP_PARAM_BOOL) values = {false, true};
  std::istringstream words(option.range.value_or(""));
  for (std::string word; option.type == BP_PARAM_ENUM && std::getline(words, word, '|');) values.emplace_back(word);
  const auto found = std::ranges::find_if(values, [&](const nlohmann::json& value) { return !ReadsBudget(option, value); });
  return found == values.end() ? std::nullopt : std::optional(*found);
}

// Ends the case as SKIPPED if an option reads the budget with every value.
ValidateSetting WithoutBudget(const Subject& subject) {
  ValidateSetting setting = subject.setting();
  for (const OptionInfo& option : subject.info().options) {
    if (!setting.options.contains(option.path) || !ReadsBudget(option, setting.options[option.path])) continue;
    const std::optional<nlohmann::json> other = ValueWithoutBudget(option);
    if (!other) SkipCase(fmt::format("option '{}' declares that it reads the budget", option.path));
    setting.options[option.path] = *other;
  }
  return setting;
}

void BudgetChangesNothing(Subject& with_schedules, CaseResult*) {
  NeedTwoInstances(with_schedules);
  const ValidateSetting setting = WithoutBudget(with_schedules);
  Subject subject(with_schedules.info(), setting, with_schedules.folder());
  constexpr uint64_t kIterations = 3;
  DrivenLearner far(subject, {}), near(subject, {.budget = DrivenBudget::kNearEnd});
  far.Train(kIterations), near.Train(kIterations);
  if (far.env_steps() != near.env_steps())
    FailCase(fmt::format("{} iterations far from the budget's end and near it", kIterations), "the same steps",
             fmt::format("{} steps and {}", far.env_steps(), near.env_steps()));
  NeedSameRecord(far, near, fmt::format("{} iterations far from the budget's end and near it", kIterations));
}

void RowsChangeNothing(Subject& subject, CaseResult*) {
  NeedTwoInstances(subject);
  DrivenLearner many(subject, {});
  if (!many.learner().row_exact()) SkipCase("lets other rows of a call affect a row (no ROW_EXACT)");
  many.Train(1);
  if (many.collected() != BP_REQ_EVALUATE) SkipCase("evaluates no candidates, so its rows affect learning");
  DrivenLearner few(subject, {.rows = 3, .chunk_rows = 1});
  few.Train(1);
  if (NeedSaved(many) != NeedSaved(few))
    FailCase("candidates played in 8 rows, 4 in a call, and in 3 rows one by one", "the same state", "a different state");
}

void ConstantReward(Subject& subject, CaseResult*) {
  DrivenLearner learner(subject, {.constant_reward = true});
  learner.Train(3);
  if (learner.collected() != BP_REQ_ROLLOUT && learner.collected() != BP_REQ_EVALUATE) SkipCase("learns from no reward");
  constexpr char kAfter[] = "3 iterations in which every reward was 1";
  NeedSoundTensors(learner, kAfter);
  for (const uint32_t flags : {BP_ACT_EXPLORE, BP_ACT_GREEDY}) {
    learner.Act({0, learner.rows()}, flags, 0);
    NeedSoundActs(learner, fmt::format("act after {}", kAfter));
  }
}

void StateComesBack(Subject& subject, CaseResult* result) {
  NeedTwoInstances(subject);
  DrivenLearner learner(subject, {});
  learner.Train(1);
  const std::vector<std::byte> saved = NeedSaved(learner);
  result->note = fmt::format("{} bytes", saved.size());
  if (NeedSaved(learner) != saved) FailCase("save, twice", "the same bytes", "different bytes");
  DrivenLearner copy(subject, {});
  copy.Load(saved, &learner);
  if (NeedSaved(copy) != saved) FailCase("save right after load", "the bytes that were loaded", "different bytes");
  NeedSameRecord(learner, copy, "load");
}

void StateContinues(Subject& subject, CaseResult*) {
  NeedTwoInstances(subject);
  DrivenLearner learner(subject, {});
  learner.Train(1);
  const std::vector<std::byte> saved = NeedSaved(learner);
  learner.Interrupt();
  DrivenLearner copy(subject, {});
  copy.Load(saved, &learner);
  copy.GoOnAs(learner);
  learner.Train(1), copy.Train(1);
  NeedSameRecord(learner, copy, "the next iteration, after load and without");
}

// Like a rollout worker's learner, which receives the trial's state before each plan and consumes no data itself.
void StateReplaces(Subject& subject, CaseResult*) {
  NeedTwoInstances(subject);
  DrivenLearner learner(subject, {});
  learner.Train(1);
  const std::vector<std::byte> saved = NeedSaved(learner);
  learner.Interrupt();
  DrivenLearner further(subject, {});
  further.Train(2);
  further.Interrupt();
  further.Load(saved, &learner);
  further.GoOnAs(learner);
  learner.Train(1), further.Train(1);
  NeedSameRecord(learner, further, "the next iteration, after load into a learner one iteration ahead and without");
}

void StateIsRead(Subject& subject, CaseResult*) {
  std::vector<std::byte> saved;
  {
    DrivenLearner learner(subject, {});
    learner.Train(1);
    saved = NeedSaved(learner);
  }
  const auto need_refused = [&](const char* what, const std::vector<std::byte>& bytes) {
    DrivenLearner learner(subject, {});
    try {
      learner.Load(bytes);
    } catch (const TrialFailure&) {
      return;
    }
    FailCase(std::string("load of ") + what, "an error", "BP_OK");
  };
  if (saved.empty()) SkipCase("its state has no bytes");
  std::vector<std::byte> longer = saved;
  longer.resize(saved.size() + 8);
  need_refused("8 bytes too many", longer);
  need_refused("half of the bytes", {saved.begin(), saved.begin() + static_cast<int64_t>(saved.size() / 2)});
  need_refused("no bytes", {});
}

void NamesItsTensors(Subject& subject, CaseResult* result) {
  DrivenLearner learner(subject, {});
  learner.Train(1);
  const std::optional<uint64_t> n = NeedSoundTensors(learner, "an iteration");
  if (!n) SkipCase("does not offer " BP_LEARNER_TENSORS_1);
  result->note = fmt::format("{} tensors", *n);
}

struct Mean {
  double mean = 0, deviation = 0;
};
Mean MeanOf(std::span<const double> numbers) {
  Mean out;
  for (const double number : numbers) out.mean += number / static_cast<double>(numbers.size());
  for (const double number : numbers) out.deviation += (number - out.mean) * (number - out.mean);
  out.deviation = std::sqrt(out.deviation / static_cast<double>(numbers.size() - 1));
  return out;
}

// The first iteration is untrained: either it is far below the spread of the last ones, or the return rises slowly.
bool IsRise(std::span<const double> earned) {
  const size_t third = earned.size() / 3;
  const Mean first = MeanOf(earned.first(third)), last = MeanOf(earned.last(2 * third));
  const double error = std::hypot(first.deviation, last.deviation) / std::sqrt(static_cast<double>(third));
  return earned.front() < last.mean - 4 * last.deviation || first.mean < last.mean - 4 * error;
}

void Improves(Subject& subject, CaseResult* result) {
  if (subject.setting().env) SkipCase("the time to learn in the env of --env is unknown");
  DrivenLearner learner(subject, {.threads = 1});
  if (learner.learner().spec().n_params == 0) SkipCase("has nothing to learn (n_params 0)");
  constexpr int64_t kForNs = 10'000'000'000;
  constexpr size_t kLooks[] = {12, 24, 40};
  const int64_t begin = NowNs();
  std::vector<double> earned;
  while (earned.size() < kLooks[2] && NowNs() - begin < kForNs && !learner.done()) {
    learner.Train(1);
    if (!learner.earned()) SkipCase("reports no loss and runs no episodes");
    earned.push_back(*learner.earned());
    if (std::ranges::find(kLooks, earned.size()) == std::end(kLooks) || !IsRise(earned)) continue;
    result->note = fmt::format("from {:.3g} to {:.3g} in {} iterations", earned.front(), earned.back(), earned.size());
    return;
  }
  if (earned.size() < kLooks[2] && !learner.done())
    SkipCase(fmt::format("{} iterations in {:.0f} s are too few to judge", earned.size(),
                         static_cast<double>(NowNs() - begin) * 1e-9));
  const Mean last = MeanOf(std::span(earned).last(2 * (earned.size() / 3)));
  WarnCase(
      fmt::format("{} iterations of an easy task", earned.size()), "a clearly higher return at the end than at the start",
      fmt::format("{:.3g} at the start, {:.3g} ± {:.2g} in the last two thirds", earned.front(), last.mean, last.deviation));
}

}  // namespace

std::vector<Case> LearnerCases() {
  return {
      {"act-writes-its-rows", kOfLearners,
       "`act` writes every output of its rows and no others, and does not change its inputs.",
       "Loop from act.begin to act.end, and write all of spec.act_out.", ActWritesItsRows, kActs, Evidence::kBasic},
      {"act-is-sound", kOfLearners, "Actions are finite, and choices exist.",
       "Clip actions, and keep the index of a choice below nvec.", ActIsSound, kActs},
      {"act-repeats", kOfLearners, "`act` with the same seed, step and rows gives the same bytes.",
       "Draw noise with bp_seed(act.seed, BP_PURPOSE_ACT, act.row_base + row, act.step); keep no data between calls.",
       ActRepeats, kActs, Evidence::kBasic},
      {"act-reads-its-rows", kOfLearners, "`act` reads only the rows of its range.", "Loop from act.begin to act.end.",
       ActReadsItsRows, kActs, Evidence::kCompares},
      {"row-exact", kOfLearners,
       "With ROW_EXACT, a row's bytes do not depend on other rows of the call; without ROW_EXACT, only their rounding may.",
       "Compute row by row in one order, or leave out ROW_EXACT.", RowExact, kActs, Evidence::kCompares},
      {"act-in-threads", kOfLearners, "With ROWS_CONCURRENT, two threads on disjoint rows give the same bytes as one.",
       "Move scratch memory onto the stack or into the thread; else leave out ROWS_CONCURRENT.", ActInThreads, kActs,
       Evidence::kCompares},
      {"learns", kOfLearners, "The host supports the plans, and two iterations end.", "See the requests in learner.h.", Learns,
       kTrains},
      {"same-seed-same-learner", kOfLearners, "The same seed gives the same state and actions, also within one process.",
       "Draw only from a stream keyed by the seed: no rand(), clock, static or default generator of LibTorch.",
       SameSeedSameLearner, kTrains | CallSet{PluginCall::kSave}, Evidence::kBasic},
      {"threads-change-nothing", kOfLearners, "The number of threads changes no bit.", "Sum in one order.",
       ThreadsChangeNothing, kTrains | CallSet{PluginCall::kSave}, Evidence::kCompares},
      {"rows-change-nothing", kOfLearners, "With ROW_EXACT a candidate's return is the same in any number of rows.",
       "Derive a candidate's actions from act.candidate[row] and the row's inputs, not from its index.", RowsChangeNothing,
       kTrains, Evidence::kCompares},
      {"budget-changes-nothing", kOfLearners,
       "The budget changes no bit, except by options whose values declare that they read it.",
       "Add `reads_budget` to the option that makes `plan` or `consume` depend on progress, iterations, epochs, env_steps_left "
       "or "
       "deadline_ns.",
       BudgetChangesNothing, kTrains | CallSet{PluginCall::kSave}, Evidence::kCompares},
      {"constant-reward", kOfLearners, "Equal rewards, which contain no signal, leave every number finite.",
       "Add a small number to a deviation before dividing by it.", ConstantReward, kTrains | CallSet{PluginCall::kTensors}},
      {"state-comes-back", kOfLearners, "`load` restores the state and actions that `save` wrote.",
       "Save and load every member that changes.", StateComesBack, kTrains | CallSet{PluginCall::kSave, PluginCall::kLoad},
       Evidence::kCompares},
      {"state-continues", kOfLearners, "The iteration after `load` is bit for bit the same as without it.",
       "Also save moments, counters and the normaliser.", StateContinues,
       kTrains | CallSet{PluginCall::kSave, PluginCall::kLoad}, Evidence::kCompares},
      {"state-replaces", kOfLearners,
       "`load` replaces the whole state of a used learner; its plans follow from the state and the limits.",
       "Let `load` set or clear every member, also those that `plan` fills.", StateReplaces,
       kTrains | CallSet{PluginCall::kSave, PluginCall::kLoad}, Evidence::kCompares},
      {"state-is-read", kOfLearners, "`load` rejects missing and surplus bytes.", "Read and check each size before its data.",
       StateIsRead, kTrains | CallSet{PluginCall::kSave, PluginCall::kLoad}},
      {"names-its-tensors", kOfLearners, "Tensors have unique names and finite numbers.", "Add each tensor once in Tensors().",
       NamesItsTensors, kTrains | CallSet{PluginCall::kTensors}},
      {"policy-acts", kOfLearners, "A loaded policy acts like the learner that saved it, without a call of `plan`.",
       "Save and load everything that `act` reads, and prepare it in `load`.", PolicyActs,
       kTrains | CallSet{PluginCall::kSave, PluginCall::kLoad, PluginCall::kOtherExtension}, Evidence::kCompares},
      {"policy-starts", kOfLearners, "A new learner that starts from a policy acts like that policy, and trains.",
       "Load the whole policy in `start`, and keep only seeds and counters.", PolicyStarts,
       kTrains | CallSet{PluginCall::kSave, PluginCall::kLoad}, Evidence::kCompares},
      {"improves", kOfLearners, "On an easy task the return rises after some iterations.",
       "Test it on a task that you know; check the learning rate.", Improves, kTrains},
  };
}

}  // namespace backplane
