#include "ant.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "ant_model.hpp"
#include "mujoco/errors.hpp"

namespace ant {
namespace {

constexpr int kIntegration = mjSTATE_INTEGRATION;

void Check(const char* raised) {
  if (raised) throw bp::Error(BP_E_INTERNAL, std::string("MuJoCo: ") + raised);
}

int FindBody(const mjModel* model, const std::string& name) {
  const int id = mj_name2id(model, mjOBJ_BODY, name.c_str());
  if (id >= 0) return id;
  char* end = nullptr;
  const long number = std::strtol(name.c_str(), &end, 10);
  if (!name.empty() && *end == 0 && number >= 0 && number < model->nbody) return static_cast<int>(number);
  throw bp::ConfigError("main_body: the model has no body '" + name + "'");
}

double Clip(double value, double low, double high) { return value < low ? low : value > high ? high : value; }  // keeps NaN

// Sum of f(0) .. f(n-1) in the order of numpy (eight accumulators, halves above 128), so that rewards agree bit for bit.
template <class Number, class F>
Number NumpySum(int begin, int n, const F& f) {
  if (n > 128) {
    const int half = n / 2 - (n / 2) % 8;
    return NumpySum<Number>(begin, half, f) + NumpySum<Number>(begin + half, n - half, f);
  }
  Number sum = 0;
  int i = 0;
  if (n >= 8) {
    Number r[8];
    for (int k = 0; k < 8; ++k) r[k] = f(begin + k);
    for (i = 8; i < n - n % 8; i += 8)
      for (int k = 0; k < 8; ++k) r[k] += f(begin + i + k);
    sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  }
  for (; i < n; ++i) sum += f(begin + i);
  return sum;
}

}  // namespace

World::World(const Options& given)
    : options(given),
      model_(given.xml_path.empty() ? mj::LoadText("ant.xml", ModelXml()) : mj::LoadFile(given.xml_path)),
      fingerprint_(mj::Fingerprint(model_.get())) {
  if (model_->nq < 3 || model_->nu < 1) throw bp::ConfigError("xml_path: the model needs a free root joint and an actuator");
  if (options.healthy_z_min > options.healthy_z_max) throw bp::ConfigError("healthy_z_min should not exceed healthy_z_max");
  if (options.contact_force_min > options.contact_force_max)
    throw bp::ConfigError("contact_force_min should not exceed contact_force_max");
  main_body = FindBody(model(), options.main_body);
  dt = model_->opt.timestep * static_cast<double>(options.frame_skip);
}

int World::ObsSize() const {
  const auto& m = *model_;
  return static_cast<int>(m.nq - (options.exclude_current_positions_from_observation ? 2 : 0) + m.nv +
                          (options.include_cfrc_ext_in_observation ? 6 * (m.nbody - 1) : 0));
}

bp::EnvSpec Ant::Spec(const World& world) {
  bp::EnvSpec spec;
  bp::Channel action{.role = BP_ROLE_ACTION, .name = "action", .shape = {world.model()->nu}};
  for (int i = 0; i < world.model()->nu; ++i) {
    action.low.push_back(world.model()->actuator_ctrlrange[2 * i]);
    action.high.push_back(world.model()->actuator_ctrlrange[2 * i + 1]);
  }
  spec.Obs(world.ObsSize()).Add(action).MaxEpisodeSteps(world.options.max_episode_steps);
  for (const char* name : {"x_position", "y_position", "distance_from_origin", "x_velocity", "y_velocity", "reward_forward",
                           "reward_survive", "reward_ctrl", "reward_contact", "ep/x_displacement", "ep/distance"})
    spec.Info(name);
  return spec;
}

void Ant::Begin(const World& world, const double* qpos, const double* qvel) {
  const mjModel* model = world.model();
  mjData* data = data_.get();
  Check(mj::Catch([&] {
    mj_resetData(model, data);
    std::memcpy(data->qpos, qpos, model->nq * sizeof(double));
    std::memcpy(data->qvel, qvel, model->nv * sizeof(double));
    mj_forward(model, data);
  }));
  const double* position = data->xpos + 3 * world.main_body;
  track_ = {position[0], position[1], 0, 0, data->qpos[0], data->qpos[1]};
}

void Ant::Reset(const World& world, bp::Rng& rng, float* obs) {
  const mjModel* model = world.model();
  const double noise = world.options.reset_noise_scale;
  std::vector<double> qpos(model->qpos0, model->qpos0 + model->nq), qvel(model->nv);
  for (double& q : qpos) q += rng.Range(-noise, noise);
  for (double& v : qvel) v = noise * rng.Normal();
  Begin(world, qpos.data(), qvel.data());
  Observe(world, obs);
}

Terms Ant::Advance(const World& world, const float* action) {
  const Options& o = world.options;
  const mjModel* model = world.model();
  mjData* data = data_.get();
  Check(mj::Catch([&] {
    for (int i = 0; i < model->nu; ++i) data->ctrl[i] = action[i];
    for (int64_t i = 0; i < o.frame_skip; ++i) mj_step(model, data);
    mj_rnePostConstraint(model, data);  // fills cfrc_ext, which mj_step leaves alone
  }));
  const double* position = data->xpos + 3 * world.main_body;
  track_.x_velocity = (position[0] - track_.x) / world.dt;
  track_.y_velocity = (position[1] - track_.y) / world.dt;
  track_.x = position[0], track_.y = position[1];

  // The action is float32 and so is its cost, as numpy computes it; only the contact cost is float64.
  const float squares = NumpySum<float>(0, static_cast<int>(model->nu), [&](int i) { return action[i] * action[i]; });
  const double contacts = NumpySum<double>(0, static_cast<int>(6 * model->nbody), [&](int i) {
    const double force = Clip(data->cfrc_ext[i], o.contact_force_min, o.contact_force_max);
    return force * force;
  });
  return {.forward = track_.x_velocity * o.forward_reward_weight,
          .survive = (Healthy(world) ? 1.0 : 0.0) * o.healthy_reward,
          .ctrl = -static_cast<double>(static_cast<float>(o.ctrl_cost_weight) * squares),
          .contact = -(o.contact_cost_weight * contacts)};
}

bool Ant::Healthy(const World& world) const {
  const auto finite = [](double value) { return std::isfinite(value); };
  const double z = data_->qpos[2];
  return std::all_of(data_->qpos, data_->qpos + world.model()->nq, finite) &&
         std::all_of(data_->qvel, data_->qvel + world.model()->nv, finite) && world.options.healthy_z_min <= z &&
         z <= world.options.healthy_z_max;
}

void Ant::Observe(const World& world, float* obs) const {
  const Options& o = world.options;
  const mjModel* model = world.model();
  for (int i = o.exclude_current_positions_from_observation ? 2 : 0; i < model->nq; ++i) *obs++ = static_cast<float>(data_->qpos[i]);
  for (int i = 0; i < model->nv; ++i) *obs++ = static_cast<float>(data_->qvel[i]);
  if (!o.include_cfrc_ext_in_observation) return;
  for (int i = 6; i < 6 * model->nbody; ++i)  // without the world body
    *obs++ = static_cast<float>(Clip(data_->cfrc_ext[i], o.contact_force_min, o.contact_force_max));
}

bp::StepResult Ant::Step(const World& world, bp::Rng&, const float* action, float* obs, float* info) {
  const Terms terms = Advance(world, action);
  Observe(world, obs);
  const double x = data_->qpos[0], y = data_->qpos[1];
  const double values[kInfoCount] = {
      x, y, std::sqrt(x * x + y * y), track_.x_velocity, track_.y_velocity, terms.forward, terms.survive, terms.ctrl,
      terms.contact, x - track_.start_x, std::hypot(x - track_.start_x, y - track_.start_y)};
  for (int i = 0; i < kInfoCount; ++i) info[i] = static_cast<float>(values[i]);
  return {.reward = terms.Reward(), .terminated = world.options.terminate_when_unhealthy && !Healthy(world)};
}

uint64_t Ant::StateBytes(const World& world) {
  return sizeof(Track) + mj_stateSize(world.model(), kIntegration) * sizeof(mjtNum);
}

// mjSTATE_INTEGRATION comes first, where the benchmarks look for it. It holds the warm start of the solver: without it a restored run drifts away within 200 steps.
void Ant::Save(const World& world, void* out) const {
  std::vector<mjtNum> state(mj_stateSize(world.model(), kIntegration));
  mj_getState(world.model(), data_.get(), state.data(), kIntegration);
  const size_t bytes = state.size() * sizeof(mjtNum);
  std::memcpy(out, state.data(), bytes);
  std::memcpy(static_cast<char*>(out) + bytes, &track_, sizeof track_);
}

void Ant::Load(const World& world, const void* in) {
  std::vector<mjtNum> state(mj_stateSize(world.model(), kIntegration));
  const size_t bytes = state.size() * sizeof(mjtNum);
  std::memcpy(state.data(), in, bytes);
  std::memcpy(&track_, static_cast<const char*>(in) + bytes, sizeof track_);
  Check(mj::Catch([&] {
    mj_resetData(world.model(), data_.get());
    mj_setState(world.model(), data_.get(), state.data(), kIntegration);
  }));
}

}  // namespace ant
