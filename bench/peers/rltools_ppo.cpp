// PPO on Ant with RLtools, in its own loop. train_rltools.py compiles it against RLtools' headers, with both sides' settings as
// macros.
//
//   rltools_ppo ITERATIONS
//
// Prints steps per second with learning, by CPU and by wall time, as a JSON object in the last line. Excludes the first
// iteration, which pages in the buffers and runs an extra rollout for the first statistics of observations.
#include <mujoco/mujoco.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

// RLtools' order: later headers use earlier ones.
// clang-format off
#include <rl_tools/operations/cpu_mux.h>
#include <rl_tools/nn/optimizers/adam/instance/operations_generic.h>
#include <rl_tools/nn/operations_cpu_mux.h>
#include <rl_tools/nn/layers/standardize/operations_generic.h>
#include <rl_tools/nn_models/mlp_unconditional_stddev/operations_generic.h>
#include <rl_tools/nn_models/sequential/operations_generic.h>
#include <rl_tools/nn/optimizers/adam/operations_generic.h>
// clang-format on

// RLtools reads Ant's model through MuJoCo's in-memory files of versions up to 3.0; these functions replace the removed calls.
// Overloads are chosen by type, and the macro below makes RLtools' code use ours.
struct FilesOfMuJoCo2 {
  std::vector<char> bytes;
  char* filedata[1] = {};
};

static void mj_defaultVFS(FilesOfMuJoCo2*) {}
static int mj_findFileVFS(const FilesOfMuJoCo2*, const char*) { return 0; }
static int mj_deleteFileVFS(FilesOfMuJoCo2*, const char*) { return 0; }

static int mj_makeEmptyFileVFS(FilesOfMuJoCo2* files, const char*, int size_bytes) {
  files->bytes.resize(size_bytes);
  files->filedata[0] = files->bytes.data();
  return 0;
}

static mjModel* mj_loadXML(const char* name, const FilesOfMuJoCo2* files, char* error, int error_size) {
  mjVFS memory;
  mj_defaultVFS(&memory);
  mj_addBufferVFS(&memory, name, files->bytes.data(), static_cast<int>(files->bytes.size()));
  mjModel* model = mj_loadXML(name, &memory, error, error_size);
  mj_deleteVFS(&memory);
  if (model == nullptr) {
    std::fprintf(stderr, "rltools_ppo: MuJoCo %s cannot read the model of RLtools' Ant: %s\n", mj_versionString(), error);
    std::exit(1);
  }
  return model;
}

#define mjVFS FilesOfMuJoCo2
#include <rl_tools/rl/environments/mujoco/ant/operations_cpu.h>
#undef mjVFS

// clang-format off
#include <rl_tools/rl/algorithms/ppo/loop/core/config.h>
#include <rl_tools/rl/algorithms/ppo/loop/core/operations_generic.h>
// clang-format on

namespace rlt = rl_tools;
namespace core = rlt::rl::algorithms::ppo::loop::core;
namespace mujoco = rlt::rl::environments::mujoco;

using Device = rlt::devices::DEVICE_FACTORY<>;
using Size = Device::index_t;
using Random = Device::SPEC::RANDOM::ENGINE<>;
using Types = rlt::numeric_types::Policy<float>;
using Ant = mujoco::Ant<mujoco::ant::Specification<double, Size, mujoco::ant::DefaultParameters<double, Size>>>;

struct Parameters : core::DefaultParameters<Types, Size, Ant> {
  static constexpr Size N_ENVIRONMENTS = BENCH_ENVS;
  static constexpr Size ON_POLICY_RUNNER_STEPS_PER_ENV = BENCH_STEPS;
  static constexpr Size DATASET_SIZE = BENCH_ENVS * BENCH_STEPS;
  static constexpr Size BATCH_SIZE = BENCH_MINIBATCH;
  static constexpr Size ACTOR_HIDDEN_DIM = BENCH_HIDDEN;
  static constexpr Size CRITIC_HIDDEN_DIM = BENCH_HIDDEN;
  static constexpr Size EPISODE_STEP_LIMIT = Ant::EPISODE_STEP_LIMIT;
  static constexpr bool NORMALIZE_OBSERVATIONS = true;
  static constexpr bool NORMALIZE_OBSERVATIONS_CONTINUOUSLY = true;

  struct OPTIMIZER_PARAMETERS : rlt::nn::optimizers::adam::DEFAULT_PARAMETERS_PYTORCH<Types> {
    static constexpr float ALPHA = BENCH_LR;
  };
  struct PPO_PARAMETERS : rlt::rl::algorithms::ppo::DefaultParameters<Types, Size, BENCH_MINIBATCH> {
    static constexpr float GAMMA = BENCH_DISCOUNT;
    static constexpr float LAMBDA = BENCH_TRACE;
    static constexpr float EPSILON_CLIP = BENCH_CLIP;
    static constexpr float INITIAL_ACTION_STD = BENCH_DEVIATION;
    static constexpr float ACTION_ENTROPY_COEFFICIENT = 0;
    static constexpr bool NORMALIZE_ADVANTAGE = true;
    static constexpr Size N_EPOCHS = BENCH_EPOCHS;
  };
};

using Config = core::Config<Types, Size, Random, Ant, Parameters>;
using Loop = core::State<Config>;
static_assert(Ant::Observation::DIM == 27, "as ours has them without contact forces");

static double Seconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Mean reward of the last rollout. NaN is invalid JSON, so a diverged run yields no figure.
static double MeanReward(const Loop& loop) {
  double sum = 0;
  for (Size i = 0; i < BENCH_ENVS * BENCH_STEPS; ++i) sum += rlt::get(loop.on_policy_runner_dataset.rewards, i, 0);
  return sum / (BENCH_ENVS * BENCH_STEPS);
}

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? std::atoi(argv[1]) : 0;
  if (iterations < 2) {
    std::fprintf(stderr, "usage: rltools_ppo ITERATIONS   two at least, as the first is left out\n");
    return 2;
  }
  if (mj_version() != mjVERSION_HEADER) {
    std::fprintf(stderr, "rltools_ppo: compiled for MuJoCo %d, got %s\n", mjVERSION_HEADER, mj_versionString());
    return 1;
  }
  Device device;
  const auto loop = std::make_unique<Loop>();
  rlt::init(device);
  rlt::malloc(device, *loop);
  rlt::init(device, *loop, 1);
  double cpu_s = 0, wall_s = 0;
  for (int i = 0; i < iterations; ++i) {
    if (i == 1) cpu_s = -Seconds(CLOCK_PROCESS_CPUTIME_ID), wall_s = -Seconds(CLOCK_MONOTONIC);
    rlt::step(device, *loop);
  }
  cpu_s += Seconds(CLOCK_PROCESS_CPUTIME_ID), wall_s += Seconds(CLOCK_MONOTONIC);
  const double steps = static_cast<double>(iterations - 1) * BENCH_ENVS * BENCH_STEPS;
  std::printf("\n{\"cpu_sps\": %.1f, \"sps\": %.1f, \"reward\": %.4f}\n", steps / cpu_s, steps / wall_s, MeanReward(*loop));
}
