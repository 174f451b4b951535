// bp::MultiEnv<T>: a batch made of single rows with several agents each. Part of env.hpp, which authors include.
//
// T has the members of a T for bp::Env (env.hpp), except for
//   static bp::EnvSpec Spec(const Model&);   // MaxAgents(n), AgentObs, an AgentAction..., and optionally ActionMask,
//                                            // Alive, State, Info; or Spec(Model&), to store handles of further channels
//   void Reset(const Model&, bp::Rng&, const bp::RowView& out);
// and one of
//   bool Step(const Model&, bp::Rng&, const bp::RowStep<Action>& row);             // each agent earns row.reward[a]
//   bp::StepResult Step(const Model&, bp::Rng&, const bp::RowStep<Action>& row);   // all earn one reward, the team's
// The first returns true if the task has ended. The host numbers rows, T numbers agents 0 .. n-1. A row has one episode. An
// agent may leave it early: its alive[a] is 0 from then on, and its action is ignored, but it still gets observations. States
// by name need SetState(const Model&, const double*, const bp::RowView& out).
//
// Agents with different observations or actions form groups: Spec declares Group(name, n) before the channels of each, T keeps
// their handles (spec.Get<float>("NAME/obs")), and Reset and Step use row.Agents(handle)[agent]; obs, mask and action are
// empty.
#pragma once

#include <concepts>
#include <span>

#include "backplane/env_rows.hpp"

namespace bp {

// Numbers of each agent in a row.
template <class T>
class PerAgent {
 public:
  PerAgent() = default;  // for a channel that the env does not have
  PerAgent(std::span<T> all, size_t each) : all_(all), each_(each) {}
  std::span<T> operator[](size_t agent) const { return {all_.data() + agent * each_, each_}; }
  std::span<T> all() const { return all_; }  // agent by agent
  bool empty() const { return all_.empty(); }

 private:
  std::span<T> all_;
  size_t each_ = 0;
};

// Outputs of a row after a reset and after each step; write all of them. Channels absent from the spec are empty.
struct RowView {
  PerAgent<float> obs;       // [agents][n_obs]
  PerAgent<uint8_t> mask;    // [agents][choices], 1: allowed; never all 0
  std::span<uint8_t> alive;  // [agents]
  std::span<float> state;    // [n_state]

  // The row of any other channel, by its handle; an INFO channel has no buffer if it is not recorded.
  template <class T>
  std::span<T> operator[](Handle<T> channel) const {
    if (slot->Of(channel).is_listed)
      throw Error(BP_E_INTERNAL,
                  "'" + slot->Of(channel).name + "' is from Info(): write it through `info`, not through a handle");
    return slot->Row(channel, row);
  }
  // The same, agent by agent: of all agents, or of the channel's group.
  template <class T>
  PerAgent<T> Agents(Handle<T> channel) const {
    size_t each = 1;
    for (const int64_t n : slot->Of(channel).shape) each *= static_cast<size_t>(n);
    return {(*this)[channel], each};
  }
  template <class T>
  bool Has(Handle<T> channel) const {
    return slot->Has(channel);
  }

  const Slot* slot;
  uint64_t row;
};

// A step of a row: its agents' actions, and the outputs.
template <class Action>
struct RowStep : RowView {
  // int32_t: a choice per agent, action[a]. float: numbers per agent, action[a][i].
  std::conditional_t<std::is_same_v<Action, float>, PerAgent<const float>, std::span<const Action>> action;
  std::span<float> reward;  // [agents]; empty for a team reward
  std::span<float> info;    // in the order of the spec's Info(); writing beyond them fails the step
};

namespace detail {

template <class T, class Model>
concept ResetsAgents = requires(T& t, const Model& m, Rng& rng, const RowView& out) {
  t.Reset(m, rng, out);
};
template <class T, class Model, class Action, class Result>
concept StepsAgents = requires(T& t, const Model& m, Rng& rng, const RowStep<Action>& row) {
  { t.Step(m, rng, row) } -> std::same_as<Result>;
};

template <class T>
class AgentBatch : public SingleRows<T, const RowView&> {
  using Base = SingleRows<T, const RowView&>;

 public:
  using typename Base::Action;
  using typename Base::Model;

  AgentBatch(const OptionsOf<T>& options, uint64_t rows) : Base(options) {
    static_assert(ResetsAgents<T, Model>,
                  "Reset of a row of agents should be: void Reset(const Model&, bp::Rng&, const bp::RowView& out)");
    static_assert(
        kTeam || StepsAgents<T, Model, Action, bool>,
        "Step of a row of agents should be: bool Step(const Model&, bp::Rng&, const bp::RowStep<Action>& row), or with "
        "bp::StepResult for one reward of the team");
    static_assert(std::is_same_v<Action, float> || std::is_same_v<Action, int32_t>,
                  "Action of a row of agents should be float or int32_t");
    this->AddReward(kTeam ? BP_SCOPE_ROW : BP_SCOPE_AGENT);
    this->AddTerminated();
    if (!grouped_) NeedObsAndAction();
    reward_ = this->template Need<float>(
        BP_ROLE_REWARD, kTeam ? BP_SCOPE_ROW : BP_SCOPE_AGENT,
        kTeam ? "REWARD of float32 per row, as Step returns it" : "REWARD of float32 per agent, as Step writes it");
    terminated_ = this->template Need<uint8_t>(BP_ROLE_TERMINATED, BP_SCOPE_ROW, "a uint8 TERMINATED");
    has_mask_ = !grouped_ && this->spec().Find(BP_ROLE_ACTION_MASK) != nullptr;
    has_alive_ = this->spec().Find(BP_ROLE_ALIVE) != nullptr;
    has_state_ = this->spec().Find(BP_ROLE_STATE) != nullptr;
    if (has_mask_) {
      mask_ = this->template Need<uint8_t>(BP_ROLE_ACTION_MASK, BP_SCOPE_AGENT, "ACTION_MASK of uint8 per agent, ActionMask()");
      n_choices_ = Elements(BP_ROLE_ACTION_MASK);
    }
    if (has_alive_) alive_ = this->template Need<uint8_t>(BP_ROLE_ALIVE, BP_SCOPE_AGENT, "ALIVE of uint8 per agent, Alive()");
    if (has_state_) state_ = this->template Need<float>(BP_ROLE_STATE, BP_SCOPE_ROW, "STATE of float32 per row, State(n)");
    for (const Channel& channel : this->spec().channels)
      if (channel.is_listed) this->AddInfo(channel);
    this->MakeRows(rows);
  }

  void Reset(const Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    const Shown shown = ShownIn(slot);
    this->ResetRows(begin, end, mask, seeds, [&](uint64_t r) { return shown.Row(r); });
  }
  void Step(const Slot& slot, uint64_t begin, uint64_t end) {
    const Shown shown = ShownIn(slot);
    const auto action = grouped_ ? RowsOf<const Action>(nullptr, 0, 0) : slot.Rows(action_);
    const auto reward = slot.Rows(reward_);
    const auto terminated = slot.Rows(terminated_);
    typename Base::Infos infos;
    this->FindInfos(slot, &infos);
    const Model& model = this->model();
    auto* const cells = this->cells();
    uint64_t r = begin;
    try {
      for (; r < end; ++r) {
        RowStep<Action> row{shown.Row(r), {}, {}, {infos.values, this->n_info()}};
        if constexpr (std::is_same_v<Action, float>)
          row.action = {action[r], n_action_};
        else
          row.action = action[r];
        if constexpr (kTeam) {
          const StepResult result = cells[r].row.Step(model, cells[r].rng, std::as_const(row));
          reward[r][0] = static_cast<float>(result.reward);
          terminated[r][0] = result.terminated;
        } else {
          row.reward = reward[r];
          terminated[r][0] = cells[r].row.Step(model, cells[r].rng, std::as_const(row));
        }
        infos.HandOn(r);
      }
    } catch (const Error& e) {
      Base::ThrowOfRow(e, r);
    }
    this->CheckInfos(infos);
  }
  void SetState(uint64_t row, const double* values, const Slot& slot) requires Base::kNamesStates {
    const RowView out = ShownIn(slot).Row(row);
    this->cells()[row].row.SetState(this->model(), values, out);
  }

 private:
  static constexpr bool kTeam = StepsAgents<T, Model, Action, StepResult>;

  // The state channels of a slot.
  struct Shown {
    RowView Row(uint64_t r) const { return {{obs[r], n_obs}, {mask[r], n_choices}, alive[r], state[r], slot, r}; }
    const Slot* slot;
    size_t n_obs, n_choices;
    RowsOf<float> obs, state;
    RowsOf<uint8_t> mask, alive;
  };
  Shown ShownIn(const Slot& slot) const {
    const RowsOf<uint8_t> no_flags(nullptr, 0, 0);
    return {&slot,
            n_obs_,
            n_choices_,
            grouped_ ? RowsOf<float>(nullptr, 0, 0) : slot.Rows(obs_),
            has_state_ ? slot.Rows(state_) : RowsOf<float>(nullptr, 0, 0),
            has_mask_ ? slot.Rows(mask_) : no_flags,
            has_alive_ ? slot.Rows(alive_) : no_flags};
  }
  void NeedObsAndAction() {
    obs_ = this->template Need<float>(BP_ROLE_OBS, BP_SCOPE_AGENT, "OBS of float32 per agent, AgentObs(n)");
    action_ = this->template Need<const Action>(BP_ROLE_ACTION, BP_SCOPE_AGENT,
                                                "ACTION of T::Action per agent, AgentActionDiscrete(n) or AgentActionBox(...)");
    n_obs_ = Elements(BP_ROLE_OBS), n_action_ = Elements(BP_ROLE_ACTION);
    if (std::is_same_v<Action, int32_t> && n_action_ != 1)
      throw Error(BP_E_INTERNAL, "an env of single rows should declare one int32 ACTION per agent");
  }
  // Per agent.
  size_t Elements(uint16_t role) const {
    size_t n = 1;
    for (const int64_t dim : this->spec().Find(role)->shape) n *= static_cast<size_t>(dim);
    return n;
  }

  Handle<float> obs_, reward_, state_;
  Handle<const Action> action_;
  Handle<uint8_t> terminated_, mask_, alive_;
  size_t n_obs_ = 0, n_action_ = 0, n_choices_ = 0;
  const bool grouped_ = !this->spec().groups.empty();
  bool has_mask_ = false, has_alive_ = false, has_state_ = false;
};

}  // namespace detail

template <class T>
struct MultiEnv : EnvBatch<detail::AgentBatch<T>> {};

}  // namespace bp
