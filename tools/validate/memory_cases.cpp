// Cases of a learner with a memory (BP_ROLE_CARRY).
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "rollout/evaluator.hpp"
#include "validate/case_table.hpp"
#include "validate/doing.hpp"
#include "validate/driven_learner.hpp"

namespace backplane {
namespace {

void NeedMemory(const DrivenLearner& learner) {
  if (!learner.has_memory()) SkipCase("declares no memory (CARRY)");
}

std::vector<std::vector<std::byte>> ActedWith(DrivenLearner& learner, std::byte written_before) {
  for (const bp_channel* c : learner.learner().carry()) {
    ChannelBuffer& buffer = learner.Output(c->name);
    std::memset(buffer.row(0, 0), static_cast<int>(written_before), buffer.bytes());
  }
  learner.Act({0, learner.rows()}, BP_ACT_GREEDY, 0);
  std::vector<std::vector<std::byte>> rows;
  for (uint64_t r = 0; r < learner.rows(); ++r) rows.push_back(learner.ActedBytes(r));
  return rows;
}

void MemoryReadsItsEntry(Subject& subject, CaseResult*) {
  DrivenLearner learner(subject, {});
  NeedMemory(learner);
  learner.FillMemory();
  const auto first = ActedWith(learner, std::byte{0}), second = ActedWith(learner, std::byte{0x3f});
  for (uint64_t r = 0; r < learner.rows(); ++r)
    if (first[r] != second[r])
      FailCase(fmt::format("act of row {} with different bytes in the memory that it writes", r), "the same bytes",
               "different bytes");
}

constexpr uint64_t kMemoryEpisodes = 100, kMostMemorySteps = 64;

// Episodes of an evaluation: the bytes of the memory and the outputs in each step.
class PlayedEpisodes {
 public:
  PlayedEpisodes(Subject& subject, LearnerInstance& learner, uint64_t rows)
      : env_(subject.MakeEnvFor(rows)),
        evaluator_(*env_, learner, pool_, std::min<uint64_t>(rows, kCallRows), subject.seed(), cancelled_, [] {}),
        clocks_(1) {
    if (env_->steps_whole()) SkipCase("its env steps all rows together");
    evaluator_.CapEpisodes(kMostMemorySteps);
    evaluator_.PlayEpisodes(kMemoryEpisodes);
    evaluator_.OnEveryAct([this, &learner](SlotBuffers& slot, uint64_t begin, uint64_t end) {
      for (uint64_t row = begin; row < end; ++row) Record(learner, slot, row);
    });
  }
  // Each episode's bytes, by step.
  std::vector<std::vector<std::string>> Play() {
    acts_.assign(env_->rows(), {});
    NowDoing("act in an evaluation");
    const EvaluationResult result = evaluator_.Play(Evaluator::Policy::kLearner, clocks_);
    std::vector<std::vector<std::string>> episodes;
    for (uint64_t e = 0, first = 0; e < kMemoryEpisodes; ++e) {
      const auto& of_row = acts_[env_->rows() == 1 ? 0 : e];
      const auto begin = of_row.begin() + static_cast<int64_t>(first), end = begin + static_cast<int64_t>(result.lengths[e]);
      episodes.emplace_back(begin, end);
      if (env_->rows() == 1) first += episodes.back().size();
    }
    return episodes;
  }

 private:
  static constexpr uint64_t kCallRows = 10;

  void Record(const LearnerInstance& learner, SlotBuffers& slot, uint64_t row) {
    std::string& step = acts_[row].emplace_back();
    const auto add = [&](ChannelBuffer& buffer) {
      const uint64_t per_row = buffer.lead() / env_->rows();
      step.append(reinterpret_cast<const char*>(buffer.row(0, row * per_row)), per_row * buffer.row_bytes());
    };
    for (const bp_channel* c : learner.carry()) add(slot[c->name]);
    for (const bp_channel* c : learner.act_out()) add(slot.Written(c->name));
  }

  std::atomic<bool> cancelled_{false};
  RunnerPool pool_{1};
  std::unique_ptr<EnvInstance> env_;
  Evaluator evaluator_;
  std::vector<PhaseClock> clocks_;
  std::vector<std::vector<std::string>> acts_;  // [rows][steps]
};

// A learner with a hidden memory of its own would continue the episode before.
void MemoryStartsAtZero(Subject& subject, CaseResult* result) {
  DrivenLearner learner(subject, {});
  NeedMemory(learner);
  PlayedEpisodes each(subject, learner.learner(), kMemoryEpisodes);
  const bool exact = learner.learner().row_exact();
  const auto wanted = each.Play();
  const auto got = exact ? PlayedEpisodes(subject, learner.learner(), 1).Play() : each.Play();
  const std::string how = exact ? fmt::format("{0} episodes on 1 row and on {0} rows", kMemoryEpisodes)
                                : fmt::format("{} episodes, twice", kMemoryEpisodes);
  uint64_t steps = 0;
  for (uint64_t e = 0; e < kMemoryEpisodes; ++e) {
    const auto [ours, theirs] = std::mismatch(wanted[e].begin(), wanted[e].end(), got[e].begin(), got[e].end());
    if (ours != wanted[e].end() || theirs != got[e].end())
      FailCase(fmt::format("{}: step {} of episode {}", how, ours - wanted[e].begin() + 1, e),
               "the same memory, action and other outputs, bit for bit", "different bytes");
    steps += wanted[e].size();
  }
  result->note = fmt::format("{}, {} steps", how, steps);
}

}  // namespace

std::vector<Case> MemoryCases() {
  return {
      {"memory-reads-its-entry", kOfLearners, "`act` reads the memory of a CARRY channel from its inputs only.",
       "Read act.in and write act.out; the tensor in act.out contains old data.", MemoryReadsItsEntry, kActs,
       Evidence::kCompares},
      {"memory-starts-at-zero", kOfLearners,
       "Each episode starts with a memory of zeros: 100 episodes on one row equal one episode on each of 100 rows.",
       "Keep everything that `act` remembers in a CARRY channel, which the host clears.", MemoryStartsAtZero, kActs,
       Evidence::kCompares},
  };
}

}  // namespace backplane
