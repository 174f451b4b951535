#include <cstring>

#include "backplane/wrapper.hpp"

class FrameStack {
 public:
  static constexpr bp::About kAbout{.id = "env.frame_stack",
                                    .version = "1.0.0",
                                    .summary = "Wrapper: observes the last observations, the oldest first.",
                                    .flags = BP_FLAG_WRAPPER};
  struct Options {
    int64_t frames = 4;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("frames", &Options::frames, "[1,1024]",
              "Observations in the stack, a new first dimension; an episode starts with copies of its first one."),
  };

  FrameStack(const bp_host* host, const Options& options, uint64_t rows)
      : below_(host),
        obs_below_(below_.Index(BP_ROLE_OBS)),
        per_row_(below_.PerRow(obs_below_)),
        bytes_(below_.RowBytes(obs_below_) / per_row_),
        frames_(static_cast<uint64_t>(options.frames)),
        spec_(SpecOver(below_, obs_below_, options.frames)),
        obs_(spec_, below_.channel(obs_below_).name),
        stacks_(rows * per_row_ * frames_ * bytes_) {}
  bp::EnvSpec Spec() const { return spec_; }

  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    below_.Reset(slot, begin, end, mask, seeds);
    const auto in = below_.Rows<char>(obs_below_, slot);
    for (uint64_t r = begin; r < end; ++r) {
      if (mask && !mask[r]) continue;
      for (uint64_t i = 0; i < per_row_ * frames_; ++i)
        std::memcpy(Stack(r) + i * bytes_, in[r].data() + i / frames_ * bytes_, bytes_);
      Show(slot, r, r + 1);
    }
  }

  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    below_.Step(slot, begin, end);
    const auto in = below_.Rows<char>(obs_below_, slot);
    const uint64_t older = (frames_ - 1) * bytes_;
    for (uint64_t r = begin; r < end; ++r) {
      for (uint64_t i = 0; i < per_row_; ++i) {
        char* const stack = Stack(r) + i * frames_ * bytes_;
        std::memmove(stack, stack + bytes_, older);
        std::memcpy(stack + older, in[r].data() + i * bytes_, bytes_);
      }
    }
    Show(slot, begin, end);
  }

  // The observation is the whole memory, and a snapshot contains it anyway.
  uint64_t StateBytes() const { return per_row_ * frames_ * bytes_; }
  void Save(uint64_t row, void* out) const { std::memcpy(out, &stacks_[row * StateBytes()], StateBytes()); }
  void Load(uint64_t row, const void* data) { std::memcpy(Stack(row), data, StateBytes()); }

 private:
  static bp::EnvSpec SpecOver(const bp::EnvBelow& below, size_t obs, int64_t frames) {
    bp::Channel channel = below.Copy(obs);
    if (channel.space != BP_SPACE_BOX)
      throw bp::ConfigError("expected numbers (a box) in the channel '" + channel.name + "', got choices");
    channel.shape.insert(channel.shape.begin(), frames);
    for (std::vector<double>* bounds : {&channel.low, &channel.high}) {
      const std::vector<double> one = *bounds;
      for (int64_t k = 1; one.size() > 1 && k < frames; ++k) bounds->insert(bounds->end(), one.begin(), one.end());
    }
    return bp::EnvSpec().MaxAgents(below.spec().max_agents).Groups(bp::GroupsOf(below.spec())).Add(std::move(channel));
  }
  char* Stack(uint64_t row) { return &stacks_[row * per_row_ * frames_ * bytes_]; }
  void Show(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    const bp::RowsOf<char> out = obs_.Rows(slot);
    for (uint64_t r = begin; r < end; ++r) std::memcpy(out[r].data(), Stack(r), StateBytes());
  }

  bp::EnvBelow below_;
  size_t obs_below_;
  uint64_t per_row_, bytes_, frames_;
  bp::EnvSpec spec_;
  bp::AnyChannel obs_;
  std::vector<char> stacks_;  // [rows, per_row_, frames_, bytes_]
};

BP_PLUGINS(bp::Wrapper<FrameStack>);
