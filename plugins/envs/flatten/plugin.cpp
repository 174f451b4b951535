#include <algorithm>
#include <limits>

#include "backplane/wrapper.hpp"

// Writes `n` numbers of any type as float32.
template <class T>
void Convert(const char* from, uint64_t n, float* to) {
  const T* const in = reinterpret_cast<const T*>(from);
  std::transform(in, in + n, to, [](T x) { return static_cast<float>(x); });
}

// The texts of a JSON list, such as ["obs", "goal"].
std::vector<std::string> TextsOf(const std::string& json) {
  std::vector<std::string> texts;
  std::string between;
  for (size_t at = 0; at < json.size();) {
    const size_t open = std::min(json.find('"', at), json.size()), close = std::min(json.find('"', open + 1), json.size());
    between += json.substr(at, open - at);
    if (open < close) texts.push_back(json.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  if (between.find_first_not_of("[], \n") != std::string::npos)
    throw bp::ConfigError("channels: expected a list of names, got " + json);
  return texts;
}

class Flatten : public bp::NoMemory {
 public:
  static constexpr bp::About kAbout{.id = "env.flatten",
                                    .version = "1.0.0",
                                    .summary = "Wrapper: joins observation channels to one vector of float32.",
                                    .flags = BP_FLAG_WRAPPER};
  struct Options {
    bp::AnyValue channels{"[]"};
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("channels", &Options::channels, "list",
              "Names of OBS channels, in this order; the learner does not see them one by one; default: all."),
  };

  Flatten(const bp_host* host, const Options& options, uint64_t) : below_(host) {
    Choose(options);
    const bp_channel& first = below_.channel(parts_.front().index);
    bp::Channel joined{.role = BP_ROLE_OBS, .name = "obs", .shape = {0}, .scope = first.scope, .group = bp::GroupOf(first)};
    const std::vector<bp::AgentGroup> groups = bp::GroupsOf(below_.spec());
    if (joined.group > 0) joined.name = groups[joined.group - 1].name + "/obs";
    for (const Part& part : parts_) AddBounds(part, &joined);
    spec_.MaxAgents(below_.spec().max_agents).Groups(groups);
    obs_ = spec_.Add<float>(std::move(joined));
  }
  bp::EnvSpec Spec() const { return spec_; }
  bool Hides(std::string_view channel) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& p) { return channel == below_.channel(p.index).name; });
  }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    below_.Reset(slot, begin, end, mask, seeds);
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) Join(slot, r, r + 1);
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    below_.Step(slot, begin, end);
    Join(slot, begin, end);
  }

 private:
  struct Part {
    size_t index;
    uint64_t n, item;  // numbers per row or agent, bytes of each
    void (*convert)(const char*, uint64_t, float*);
  };

  void Choose(const Options& options);
  void AddBounds(const Part& part, bp::Channel* joined) const;
  Part PartOf(size_t index) const;

  void Join(const bp::Slot& slot, uint64_t begin, uint64_t end) const {
    const auto out = slot.Rows(obs_);
    uint64_t at = 0, all = 0;
    for (const Part& part : parts_) all += part.n;
    for (const Part& part : parts_) {
      const auto in = below_.Rows<char>(part.index, slot);
      for (uint64_t r = begin; r < end; ++r)
        for (uint64_t a = 0; a < below_.PerRow(part.index); ++a)
          part.convert(in[r].data() + a * part.n * part.item, part.n, out[r].data() + a * all + at);
      at += part.n;
    }
  }

  bp::EnvBelow below_;
  std::vector<Part> parts_;
  bp::EnvSpec spec_;
  bp::Handle<float> obs_;
};

void Flatten::Choose(const Options& options) {
  std::vector<size_t> indices;
  for (const std::string& name : TextsOf(options.channels.json)) indices.push_back(below_.Index(name));
  if (indices.empty()) indices = below_.Indices(BP_ROLE_OBS);
  for (const size_t index : indices) {
    const bp_channel& channel = below_.channel(index);
    if (channel.role != BP_ROLE_OBS)
      throw bp::ConfigError(std::string("channels: expected OBS channels, got '") + channel.name + "' of role " +
                            bp::RoleText(channel.role));
    if (channel.scope != below_.channel(indices.front()).scope)
      throw bp::ConfigError("channels: expected channels of one scope, of the env or of agents, got both");
    if (bp::GroupOf(channel) != bp::GroupOf(below_.channel(indices.front())))
      throw bp::ConfigError(std::string("channels: expected channels of one group of agents, got '") +
                            below_.channel(indices.front()).name + "' and '" + channel.name + "'");
    parts_.push_back(PartOf(index));
  }
}

Flatten::Part Flatten::PartOf(size_t index) const {
  const bp_channel& c = below_.channel(index);
  Part part{index, below_.RowBytes(index) / below_.PerRow(index) / (c.dtype.bits / 8), c.dtype.bits / 8u, nullptr};
  const auto is = [&](int code, int bits) { return c.dtype.code == code && c.dtype.bits == bits; };
  if (is(BP_DTYPE_FLOAT, 32)) part.convert = Convert<float>;
  if (is(BP_DTYPE_FLOAT, 64)) part.convert = Convert<double>;
  if (is(BP_DTYPE_UINT, 8)) part.convert = Convert<uint8_t>;
  if (is(BP_DTYPE_INT, 32)) part.convert = Convert<int32_t>;
  if (is(BP_DTYPE_INT, 64)) part.convert = Convert<int64_t>;
  if (part.convert == nullptr || (c.space != BP_SPACE_BOX && c.space != BP_SPACE_MULTI_BINARY))
    throw bp::ConfigError(std::string("channels: expected numbers (a box) or flags in '") + c.name + "', got " +
                          bp::DtypeText(c.dtype) + (c.space == BP_SPACE_BOX ? "" : " of another space"));
  return part;
}

void Flatten::AddBounds(const Part& part, bp::Channel* joined) const {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const bp_channel& c = below_.channel(part.index);
  joined->shape[0] += static_cast<int64_t>(part.n);
  for (uint64_t i = 0; i < part.n; ++i) {
    const uint64_t at = c.n_bounds > 1 ? i : 0;
    joined->low.push_back(c.n_bounds > 0 ? c.low[at] : -kAny);
    joined->high.push_back(c.n_bounds > 0 ? c.high[at] : kAny);
  }
}

BP_PLUGINS(bp::Wrapper<Flatten>);
