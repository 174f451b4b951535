#include <cstring>

#include "backplane/wrapper.hpp"

class StickyActions {
 public:
  static constexpr bp::About kAbout{.id = "env.sticky_actions",
                                    .version = "1.0.0",
                                    .summary = "Wrapper: repeats the action of the step before with a probability.",
                                    .flags = BP_FLAG_WRAPPER};
  struct Options {
    double probability = 0.25;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("probability", &Options::probability, "[0,1]",
              "Probability that the env below gets its last action again, from the second step of an episode on."),
  };

  StickyActions(const bp_host* host, const Options& options, uint64_t rows)
      : below_(host), probability_(options.probability), actions_(below_.Indices(BP_ROLE_ACTION)), rows_(rows) {
    spec_.MaxAgents(below_.spec().max_agents).Groups(bp::GroupsOf(below_.spec()));
    for (const size_t action : actions_) {
      const bp::Channel channel = below_.Copy(action);
      spec_.Add(channel);
      bytes_ += below_.RowBytes(action);
    }
    for (const size_t action : actions_) in_.emplace_back(spec_, below_.channel(action).name);
    last_.resize(rows * bytes_);
  }
  bp::EnvSpec Spec() const { return spec_; }

  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    below_.Reset(slot, begin, end, mask, seeds);
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) rows_[r] = {bp::Rng(bp_seed(seeds[r], kStream, 0, 0)), 0};
  }

  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      Row& row = rows_[r];
      row.repeats = row.steps++ > 0 && row.stream.Uniform() < probability_;
    }
    uint64_t at = 0;
    for (size_t i = 0; i < actions_.size(); ++i) {
      const auto out = below_.Rows<char>(actions_[i], slot);
      const auto in = in_[i].Rows(slot);
      const uint64_t bytes = below_.RowBytes(actions_[i]);
      for (uint64_t r = begin; r < end; ++r) {
        char* const last = &last_[r * bytes_ + at];
        if (!rows_[r].repeats) std::memcpy(last, in[r].data(), bytes);
        std::memcpy(out[r].data(), last, bytes);
      }
      at += bytes;
    }
    below_.Step(slot, begin, end);
  }

  uint64_t StateBytes() const { return sizeof(Row) + bytes_; }
  void Save(uint64_t row, void* out) const {
    std::memcpy(out, &rows_[row], sizeof(Row));
    std::memcpy(static_cast<char*>(out) + sizeof(Row), &last_[row * bytes_], bytes_);
  }
  void Load(uint64_t row, const void* data) {
    std::memcpy(&rows_[row], data, sizeof(Row));
    std::memcpy(&last_[row * bytes_], static_cast<const char*>(data) + sizeof(Row), bytes_);
  }

 private:
  static constexpr uint32_t kStream = 0x571C;  // of the episode's seed, apart from the streams of envs

  struct Row {
    bp::Rng stream;
    uint32_t steps = 0, repeats = 0;
  };

  bp::EnvBelow below_;
  double probability_;
  std::vector<size_t> actions_;
  bp::EnvSpec spec_;
  std::vector<bp::AnyChannel> in_;  // by action
  uint64_t bytes_ = 0;              // of all actions of a row
  std::vector<Row> rows_;
  std::vector<char> last_;  // [rows, bytes_]
};

BP_PLUGINS(bp::Wrapper<StickyActions>);
