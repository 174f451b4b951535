// bp::Env<T>: a batch made of single rows. Part of env.hpp, which authors include and which lists the members of T.
#pragma once

#include "backplane/env_batch.hpp"

namespace bp {
namespace detail {

struct NoModel {};
template <class T>
struct PartsOf {
  using Model = NoModel;
};
template <class T>
requires requires { typename T::Model; }
struct PartsOf<T> {
  using Model = typename T::Model;
};
template <class T>
struct ActionOf {
  using Type = float;
};
template <class T>
requires requires { typename T::Action; }
struct ActionOf<T> {
  using Type = typename T::Action;
};
template <class T>
struct WithOptions {};
template <class T>
requires requires { T::kOptions; }
struct WithOptions<T> {
  static constexpr auto& kOptions = T::kOptions;
};
template <class T>
constexpr bool RowsConcurrent() {
  if constexpr (requires { T::kRowsConcurrent; }) return T::kRowsConcurrent;
  return true;
}

BP_NAMED(Key)

template <class T, class Model>
concept DrawsRow = requires(const T& c, const Model& m, std::string* out) {
  PictureSize{T::SizeOfPicture(m)};
  c.DrawFrame(m, out);
};
template <class T, class Model>
concept HasClockOfRow = requires(const Model& m) {
  double{T::SecondsOfStep(m)};
};
template <class T, class Model>
concept TakesSnapshotsOfRow = requires(T& t, const T& c, const Model& m, void* p) {
  T::StateBytes(m), c.Save(m, p), t.Load(m, p);
};

// Out: the outputs of a row, float* obs for one agent or const RowView& for several.
template <class T, class Model, class Out>
concept NamesStatesOfRow = requires(T& t, const T& c, const Model& m, double* out, const double* in, Out shown) {
  std::vector<StatePart>{T::StateParts(m)}, c.GetState(m, out), t.SetState(m, in, shown);
};

template <class T, class Model, class Out>
constexpr void CheckRow() {
  static_assert(
      TakesSnapshotsOfRow<T, Model> || !(Names_StateBytes<T> || Names_Save<T> || Names_Load<T>),
      "snapshots of a row need all three functions: static uint64_t StateBytes(const Model&), void Save(const Model&, void*) "
      "const, void Load(const Model&, const void*)");
  static_assert(DrawsRow<T, Model> || !(Names_SizeOfPicture<T> || Names_DrawFrame<T> || Names_DrawBackdrop<T>),
                "pictures of a row need: static bp::PictureSize SizeOfPicture(const Model&), void DrawFrame(const Model&, "
                "std::string*) const");
  static_assert(
      !Names_DrawBackdrop<T> || requires(const T& c, const Model& m, std::string* out) { c.DrawBackdrop(m, out); },
      "DrawBackdrop of a row should be: void DrawBackdrop(const Model&, std::string*) const");
  static_assert(!Names_SecondsOfStep<T> || HasClockOfRow<T, Model>,
                "SecondsOfStep of a row should be: static double SecondsOfStep(const Model&)");
  static_assert(
      NamesStatesOfRow<T, Model, Out> || !(Names_StateParts<T> || Names_GetState<T> || Names_SetState<T>),
      "states of a row by name need all three functions: static std::vector<bp::StatePart> StateParts(const Model&), void "
      "GetState(const Model&, double*) const, void SetState(const Model&, const double*, float* obs), or const "
      "bp::RowView& for several agents");
  CheckParameters<Model>();
  static_assert(HasLabelsOfRow<T, Model> || !Names_Labels<T>,
                "labels of a row should be: static std::vector<bp::Label> Labels(const Model&, std::string_view channel)");
  static_assert(
      !Names_Key<Model> || requires(const Model& m) { uint64_t{m.Key()}; },
      "Key of an env's Model should be: uint64_t Key() const");
}

// State of a batch of single rows T, with one agent or several: the model, the rows and their records.
template <class T, class Out>
class SingleRows : public WithOptions<T> {
 public:
  using Model = typename PartsOf<T>::Model;
  using Action = typename ActionOf<T>::Type;
  static constexpr About kAbout = T::kAbout;
  static constexpr bool kRowsConcurrent = RowsConcurrent<T>();
  static constexpr uint32_t kPictureFormat = PictureFormat<T>();
  static constexpr bool kOfRows = true;
  static constexpr bool kDraws = DrawsRow<T, Model>;
  static constexpr bool kNamesStates = NamesStatesOfRow<T, Model, Out>;
  static constexpr bool kPlainState = std::is_trivially_copyable_v<T>;
  static constexpr bool kOwnState = TakesSnapshotsOfRow<T, Model>;
  static constexpr int kMaxInfo = 64;

  EnvSpec Spec() const { return spec_; }

  uint64_t StateBytes() const requires(kPlainState || kOwnState) {
    if constexpr (kOwnState) return sizeof(Rng) + T::StateBytes(model());
    return sizeof(Rng) + sizeof(T);
  }
  void Save(uint64_t row, void* out) const requires(kPlainState || kOwnState) {
    const Cell& cell = cells_[row];
    std::memcpy(out, &cell.rng, sizeof(Rng));
    char* const state = static_cast<char*>(out) + sizeof(Rng);
    if constexpr (kOwnState)
      cell.row.Save(model(), state);
    else
      std::memcpy(state, &cell.row, sizeof(T));
  }
  void Load(uint64_t row, const void* data) requires(kPlainState || kOwnState) {
    Cell& cell = cells_[row];
    std::memcpy(&cell.rng, data, sizeof(Rng));
    const char* const state = static_cast<const char*>(data) + sizeof(Rng);
    if constexpr (kOwnState)
      cell.row.Load(model(), state);
    else
      std::memcpy(&cell.row, state, sizeof(T));
  }
  std::vector<StatePart> StateParts() const requires kNamesStates { return T::StateParts(model()); }
  void GetState(uint64_t row, double* out) const requires kNamesStates { cells_[row].row.GetState(model(), out); }
  PictureSize SizeOfPicture() const requires kDraws { return T::SizeOfPicture(model()); }
  void DrawBackdrop(uint64_t row, std::string* out) const requires kDraws {
    if constexpr (requires { cells_[row].row.DrawBackdrop(model(), out); }) cells_[row].row.DrawBackdrop(model(), out);
  }
  void DrawFrame(uint64_t row, std::string* out) const requires kDraws { cells_[row].row.DrawFrame(model(), out); }
  double SecondsOfStep() const requires HasClockOfRow<T, Model> { return T::SecondsOfStep(model()); }
  std::vector<Parameter> Parameters() const requires HasParameters<Model> { return model_.Parameters(); }
  std::vector<Label> Labels(std::string_view channel) const requires HasLabelsOfRow<T, Model> {
    return T::Labels(model(), channel);
  }
  void ScaleParameter(uint64_t i, double factor) requires HasParameters<Model> { model_.ScaleParameter(i, factor); }
  uint64_t StateKey() const {
    if constexpr (requires { model().Key(); }) return model().Key();
    return 0;
  }

 protected:
  // On a separate cache line, so that threads on adjacent ranges do not slow each other.
  struct alignas(64) Cell {
    explicit Cell(const Model& model) : row(Make(model)) {}
    static T Make(const Model& model) {
      if constexpr (std::is_constructible_v<T, const Model&>)
        return T(model);
      else
        return T();
    }
    T row;
    Rng rng;
  };

  explicit SingleRows(const OptionsOf<T>& options) : model_(Made(options)), spec_(T::Spec(model_)) {}

  const Model& model() const { return model_; }
  const EnvSpec& spec() const { return spec_; }
  void AddReward(uint16_t scope) {
    if (!spec_.Find(BP_ROLE_REWARD)) scope == BP_SCOPE_AGENT ? spec_.AgentReward() : spec_.Reward();
  }
  void AddTerminated() {
    if (!spec_.Find(BP_ROLE_TERMINATED)) spec_.Terminated();
  }
  // The handle to the first channel of a role, which must have this scope; `what` describes the expected declaration.
  template <class N>
  Handle<N> Need(uint16_t role, uint16_t scope, const char* what) const {
    const Channel* const found = spec_.Find(role);
    if (!found || found->scope != scope || !SameDtype(found->dtype, DtypeOf<std::remove_const_t<N>>()))
      throw Error(BP_E_INTERNAL, std::string("an env of single rows should declare ") + what);
    return spec_.Get<N>(role);
  }
  void AddInfo(const Channel& channel) {
    if (info_.size() == kMaxInfo) throw Error(BP_E_INTERNAL, "an env of single rows has at most 64 INFO channels");
    const bool one = std::all_of(channel.shape.begin(), channel.shape.end(), [](int64_t n) { return n == 1; });
    if (!one || channel.scope != BP_SCOPE_ROW || !SameDtype(channel.dtype, kF32))
      throw Error(BP_E_INTERNAL, "INFO '" + channel.name + "' of an env of single rows should be one float32 per row");
    info_.push_back(spec_.Get<float>(channel.name));
  }
  void MakeRows(uint64_t rows) {
    cells_.reserve(rows);
    for (uint64_t r = 0; r < rows; ++r) cells_.emplace_back(model());
  }
  // Resets or steps the rows of a batch one by one; `at` returns the outputs of each.
  template <class At>
  void ResetRows(uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds, At&& at) {
    for (uint64_t r = begin; r < end; ++r) {
      if (mask && !mask[r]) continue;
      cells_[r].rng = Rng(seeds[r]);
      cells_[r].row.Reset(model(), cells_[r].rng, at(r));
    }
  }
  // Numbers that a row writes to INFO in a call of Step, with or without a buffer in the slot.
  struct Infos {
    void HandOn(uint64_t row) const {
      for (size_t i = 0; i < n_wanted; ++i) wanted[i][row][0] = values[place[i]];
    }
    static constexpr size_t kBeyond = 8;         // checked places beyond the spec's Info()
    static constexpr uint8_t kUnwritten = 0xa7;  // byte pattern of a number that no env computes
    float values[kMaxInfo + kBeyond];
    RowsOf<float> wanted[kMaxInfo];
    size_t place[kMaxInfo], n_wanted = 0;
  };
  // Checks after the rows of a call that they wrote only numbers of the spec's Info(), because others would be lost.
  void CheckInfos(const Infos& infos) const {
    constexpr uint64_t kMark = uint64_t{0x0101010101010101} * Infos::kUnwritten;
    uint64_t beyond[4];
    static_assert(sizeof beyond == Infos::kBeyond * sizeof(float));
    std::memcpy(beyond, infos.values + info_.size(), sizeof beyond);
    const uint64_t written = (beyond[0] ^ kMark) | (beyond[1] ^ kMark) | (beyond[2] ^ kMark) | (beyond[3] ^ kMark);
    if (written != 0) RefuseInfos(infos);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void RefuseInfos(const Infos& infos) const {
    size_t i = info_.size();
    float unwritten;
    std::memset(&unwritten, Infos::kUnwritten, sizeof unwritten);
    while (std::memcmp(&infos.values[i], &unwritten, sizeof unwritten) == 0) ++i;
    throw Error(BP_E_INTERNAL, "Step wrote info[" + std::to_string(i) + "], but the spec declares " +
                                   (info_.empty() ? "no Info(...)" : std::to_string(info_.size()) + " Info(...)") +
                                   "; declare one per number");
  }
  void FindInfos(const Slot& slot, Infos* infos) const {
    std::fill_n(infos->values, info_.size(), 0.f);  // defaults for numbers that an env never writes
    std::memset(infos->values + info_.size(), Infos::kUnwritten, Infos::kBeyond * sizeof(float));
    for (size_t i = 0; i < info_.size(); ++i)
      if (slot.Has(info_[i])) infos->place[infos->n_wanted] = i, infos->wanted[infos->n_wanted++] = slot.Rows(info_[i]);
  }
  [[noreturn]] static void ThrowOfRow(const Error& e, uint64_t row) {
    throw Error(e.code(), "row " + std::to_string(row) + ": " + e.what());
  }
  Cell* cells() { return cells_.data(); }
  size_t n_info() const { return info_.size(); }

 private:
  static Model Made(const OptionsOf<T>& options) {
    CheckRow<T, Model, Out>();
    if constexpr (std::is_constructible_v<Model, const OptionsOf<T>&>) {
      return Model(options);
    } else {
      static_assert(std::is_same_v<OptionsOf<T>, NoOptions> && std::is_default_constructible_v<Model>,
                    "expected a Model that kOptions binds, or a constructor Model(const Options&)");
      return Model();
    }
  }

  Model model_;  // only Spec, to store handles, and ScaleParameter may change it
  EnvSpec spec_;
  std::vector<Handle<float>> info_;
  std::vector<Cell> cells_;
};

// One agent per row.
template <class T>
class RowBatch : public SingleRows<T, float*> {
  using Base = SingleRows<T, float*>;

 public:
  using typename Base::Action;

  RowBatch(const OptionsOf<T>& options, uint64_t rows) : Base(options) {
    this->AddReward(BP_SCOPE_ROW);
    this->AddTerminated();
    obs_ = this->template Need<float>(BP_ROLE_OBS, BP_SCOPE_ROW, "one OBS channel of float32");
    action_ = this->template Need<const Action>(BP_ROLE_ACTION, BP_SCOPE_ROW, "one ACTION channel of T::Action");
    reward_ = this->template Need<float>(BP_ROLE_REWARD, BP_SCOPE_ROW, "a float32 REWARD");
    terminated_ = this->template Need<uint8_t>(BP_ROLE_TERMINATED, BP_SCOPE_ROW, "a uint8 TERMINATED");
    for (const Channel& channel : this->spec().channels)
      if (channel.role == BP_ROLE_INFO) this->AddInfo(channel);
    this->MakeRows(rows);
  }

  void Reset(const Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    const auto obs = slot.Rows(obs_);
    this->ResetRows(begin, end, mask, seeds, [&](uint64_t r) { return obs[r].data(); });
  }
  void Step(const Slot& slot, uint64_t begin, uint64_t end) {
    const auto action = slot.Rows(action_);
    const auto obs = slot.Rows(obs_), reward = slot.Rows(reward_);
    const auto terminated = slot.Rows(terminated_);
    typename Base::Infos infos;
    this->FindInfos(slot, &infos);
    const auto& model = this->model();
    auto* const cells = this->cells();
    uint64_t r = begin;
    try {
      for (; r < end; ++r) {
        const StepResult result = cells[r].row.Step(model, cells[r].rng, action[r].data(), obs[r].data(), infos.values);
        reward[r][0] = static_cast<float>(result.reward);
        terminated[r][0] = result.terminated;
        infos.HandOn(r);
      }
    } catch (const Error& e) {
      Base::ThrowOfRow(e, r);
    }
    this->CheckInfos(infos);
  }
  void SetState(uint64_t row, const double* values, const Slot& slot) requires Base::kNamesStates {
    this->cells()[row].row.SetState(this->model(), values, slot.Row(obs_, row).data());
  }

 private:
  Handle<float> obs_, reward_;
  Handle<const Action> action_;
  Handle<uint8_t> terminated_;
};

}  // namespace detail

template <class T>
struct Env : EnvBatch<detail::RowBatch<T>> {};

}  // namespace bp
