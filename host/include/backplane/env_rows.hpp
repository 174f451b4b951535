// bp::Env<T>: a batch made of single rows. Part of env.hpp, which authors include and which says what T offers.
#pragma once

#include "backplane/env.hpp"

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

template <class T, class Model>
concept NamesStatesOfRow = requires(T& t, const T& c, const Model& m, double* out, const double* in, float* obs) {
  std::vector<StatePart>{T::StateParts(m)}, c.GetState(m, out), t.SetState(m, in, obs);
};

template <class T, class Model>
constexpr void CheckRow() {
  static_assert(
      TakesSnapshotsOfRow<T, Model> || !(Names_StateBytes<T> || Names_Save<T> || Names_Load<T>),
      "snapshots of a row should be all three: static uint64_t StateBytes(const Model&), void Save(const Model&, void*) "
      "const, void Load(const Model&, const void*)");
  static_assert(DrawsRow<T, Model> || !(Names_SizeOfPicture<T> || Names_DrawFrame<T> || Names_DrawBackdrop<T>),
                "pictures of a row should be: static bp::PictureSize SizeOfPicture(const Model&), void DrawFrame(const Model&, "
                "std::string*) const");
  static_assert(
      !Names_DrawBackdrop<T> || requires(const T& c, const Model& m, std::string* out) { c.DrawBackdrop(m, out); },
      "DrawBackdrop of a row should be: void DrawBackdrop(const Model&, std::string*) const");
  static_assert(!Names_SecondsOfStep<T> || HasClockOfRow<T, Model>,
                "SecondsOfStep of a row should be: static double SecondsOfStep(const Model&)");
  static_assert(NamesStatesOfRow<T, Model> || !(Names_StateParts<T> || Names_GetState<T> || Names_SetState<T>),
                "states of a row by name should be all three: static std::vector<bp::StatePart> StateParts(const Model&), void "
                "GetState(const Model&, double*) const, void SetState(const Model&, const double*, float* obs)");
  static_assert(
      !Names_Key<Model> || requires(const Model& m) { uint64_t{m.Key()}; },
      "Key of an env's Model should be: uint64_t Key() const");
}

template <class T>
class RowBatch : public WithOptions<T> {
 public:
  using Model = typename PartsOf<T>::Model;
  using Action = typename ActionOf<T>::Type;
  static constexpr About kAbout = T::kAbout;
  static constexpr bool kRowsConcurrent = RowsConcurrent<T>();
  static constexpr uint32_t kPictureFormat = PictureFormat<T>();
  static constexpr bool kOfRows = true;
  static constexpr bool kDraws = DrawsRow<T, Model>;
  static constexpr bool kNamesStates = NamesStatesOfRow<T, Model>;
  static constexpr bool kPlainState = std::is_trivially_copyable_v<T>;
  static constexpr bool kOwnState = TakesSnapshotsOfRow<T, Model>;
  static constexpr int kMaxInfo = 64;

  RowBatch(const OptionsOf<T>& options, uint64_t rows) : model_(Made(options)), spec_(T::Spec(model_)) {
    if (spec_.Find(BP_ROLE_REWARD) < 0) spec_.Reward();
    if (spec_.Find(BP_ROLE_TERMINATED) < 0) spec_.Terminated();
    obs_ = Require(BP_ROLE_OBS, kF32, "one OBS channel of float32");
    action_ = Require(BP_ROLE_ACTION, std::is_same_v<Action, float> ? kF32 : kI32, "one ACTION channel of T::Action");
    reward_ = Require(BP_ROLE_REWARD, kF32, "a float32 REWARD");
    terminated_ = Require(BP_ROLE_TERMINATED, kU8, "a uint8 TERMINATED");
    for (size_t c = 0; c < spec_.channels.size(); ++c)
      if (spec_.channels[c].role == BP_ROLE_INFO) info_.push_back(static_cast<int>(c));
    if (info_.size() > kMaxInfo) throw Error(BP_E_INTERNAL, "an env of single rows has at most 64 INFO channels");
    cells_.reserve(rows);
    for (uint64_t r = 0; r < rows; ++r) cells_.emplace_back(model_);
  }

  EnvSpec Spec() const { return spec_; }
  void Reset(const Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    for (uint64_t r = begin; r < end; ++r) {
      if (mask && !mask[r]) continue;
      cells_[r].rng = Rng(seeds[r]);
      cells_[r].row.Reset(model_, cells_[r].rng, slot.Row<float>(obs_, r));
    }
  }
  void Step(const Slot& slot, uint64_t begin, uint64_t end) {
    const auto action = slot.Rows<const Action>(action_);
    const auto obs = slot.Rows<float>(obs_), reward = slot.Rows<float>(reward_);
    const auto terminated = slot.Rows<uint8_t>(terminated_);
    float info[kMaxInfo] = {};       // what an env never writes is 0
    RowsOf<float> wanted[kMaxInfo];  // the INFO that has a buffer
    size_t place[kMaxInfo], n_wanted = 0;
    for (size_t i = 0; i < info_.size(); ++i)
      if (slot.Has(info_[i])) place[n_wanted] = i, wanted[n_wanted++] = slot.Rows<float>(info_[i]);
    Cell* const cells = cells_.data();
    uint64_t r = begin;
    try {
      for (; r < end; ++r) {
        Cell& cell = cells[r];
        const StepResult result = cell.row.Step(model_, cell.rng, action[r], obs[r], info);
        *reward[r] = static_cast<float>(result.reward);
        *terminated[r] = result.terminated;
        for (size_t i = 0; i < n_wanted; ++i) *wanted[i][r] = info[place[i]];
      }
    } catch (const Error& e) {
      throw Error(e.code(), "row " + std::to_string(r) + ": " + e.what());
    }
  }

  uint64_t StateBytes() const requires(kPlainState || kOwnState) {
    if constexpr (kOwnState) return sizeof(Rng) + T::StateBytes(model_);
    return sizeof(Rng) + sizeof(T);
  }
  void Save(uint64_t row, void* out) const requires(kPlainState || kOwnState) {
    const Cell& cell = cells_[row];
    std::memcpy(out, &cell.rng, sizeof(Rng));
    char* const state = static_cast<char*>(out) + sizeof(Rng);
    if constexpr (kOwnState)
      cell.row.Save(model_, state);
    else
      std::memcpy(state, &cell.row, sizeof(T));
  }
  void Load(uint64_t row, const void* data) requires(kPlainState || kOwnState) {
    Cell& cell = cells_[row];
    std::memcpy(&cell.rng, data, sizeof(Rng));
    const char* const state = static_cast<const char*>(data) + sizeof(Rng);
    if constexpr (kOwnState)
      cell.row.Load(model_, state);
    else
      std::memcpy(&cell.row, state, sizeof(T));
  }
  std::vector<StatePart> StateParts() const requires kNamesStates { return T::StateParts(model_); }
  void GetState(uint64_t row, double* out) const requires kNamesStates { cells_[row].row.GetState(model_, out); }
  void SetState(uint64_t row, const double* values, const Slot& slot) requires kNamesStates {
    cells_[row].row.SetState(model_, values, slot.Row<float>(obs_, row));
  }
  PictureSize SizeOfPicture() const requires kDraws { return T::SizeOfPicture(model_); }
  void DrawBackdrop(uint64_t row, std::string* out) const requires kDraws {
    if constexpr (requires { cells_[row].row.DrawBackdrop(model_, out); }) cells_[row].row.DrawBackdrop(model_, out);
  }
  void DrawFrame(uint64_t row, std::string* out) const requires kDraws { cells_[row].row.DrawFrame(model_, out); }
  double SecondsOfStep() const requires HasClockOfRow<T, Model> { return T::SecondsOfStep(model_); }
  uint64_t StateKey() const {
    if constexpr (requires { model_.Key(); }) return model_.Key();
    return 0;
  }

 private:
  // A cache line of its own, so that threads on neighbouring ranges do not slow each other.
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

  static Model Made(const OptionsOf<T>& options) {
    CheckRow<T, Model>();
    if constexpr (std::is_constructible_v<Model, const OptionsOf<T>&>) {
      return Model(options);
    } else {
      static_assert(std::is_same_v<OptionsOf<T>, NoOptions> && std::is_default_constructible_v<Model>,
                    "an env's Model is what kOptions binds, or has Model(const Options&) of it");
      return Model();
    }
  }

  int Require(uint16_t role, bp_dtype dtype, const char* what) const {
    const int found = spec_.Find(role);
    if (found < 0 || spec_.channels[found].dtype.code != dtype.code || spec_.channels[found].dtype.bits != dtype.bits)
      throw Error(BP_E_INTERNAL, std::string("an env of single rows should declare ") + what);
    return found;
  }

  const Model model_;
  EnvSpec spec_;
  int obs_, action_, reward_, terminated_;
  std::vector<int> info_;
  std::vector<Cell> cells_;
};

}  // namespace detail

template <class T>
struct Env : EnvBatch<detail::RowBatch<T>> {};

}  // namespace bp
