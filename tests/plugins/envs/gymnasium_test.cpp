// Envs written in Python: their spaces, their numbers compared with Gymnasium's, and their failures. The interpreter is
// .venv-oracle's, which scripts/test makes.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backplane/ext/render.h"
#include "backplane/ext/state.h"
#include "places.hpp"
#include "support/env_harness.hpp"
#include "support/saved_env.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPlugin = BACKPLANE_PLUGIN_DIR "/env_gymnasium.so";
const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";

// Standard output of a command.
std::string OutputOf(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  pclose(pipe);
  return text;
}

bool HasGymnasium() {
  static const bool has = std::system(("'" + kPython + "' -c 'import gymnasium' 2>/dev/null").c_str()) == 0;
  return has;
}

// Children of this process, including zombies.
std::string Children() {
  std::string all;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "children");
    std::stringstream text;
    text << in.rdbuf();
    all += text.str();
  }
  return all;
}

// A row counts its steps. Its observation is [seed, steps, action].
constexpr const char* kCounter = R"py(
import os, signal, sys, time
import gymnasium, numpy

class Counter(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(self, bad="", at=3, n=3, render_mode=None):
        self.observation_space = gymnasium.spaces.Box(0, numpy.inf, (3,), numpy.float32)
        self.action_space = gymnasium.spaces.Discrete(n, start=10)
        self.bad, self.at, self.render_mode = bad, at, render_mode

    def reset(self, *, seed=None, options=None):
        self.seed, self.steps = seed, 0
        return numpy.array([seed, 0, 0], numpy.float32), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.steps += 1
        if self.steps == self.at:
            self.fail()
        shape = 4 if self.bad == "shape" and self.steps == self.at else 3
        observation = numpy.array([self.seed, self.steps, action, 0][:shape], numpy.float32)
        return observation, self.steps / 2, self.steps == 5, self.steps == 7, {}

    def fail(self):
        if self.bad == "raises":
            raise ValueError(f"no step {self.steps}")
        if self.bad == "is_killed":
            print("about to go", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        if self.bad == "exits":
            sys.exit(3)
        if self.bad == "crashes":
            import ctypes
            ctypes.string_at(0)
        if self.bad == "hangs":
            while True:
                time.sleep(1)
        if self.bad == "prints":
            for _ in range(100):
                sys.stdout.write(("x" * 99 + "\n") * 10000)
            sys.stdout.write("the end\n")

    def render(self):
        assert self.render_mode == "rgb_array", self.render_mode
        picture = numpy.zeros((20, 30, 3), numpy.uint8)
        picture[self.steps] = 255
        return picture

class NotPickled(Counter):
    def __init__(self):
        super().__init__()
        self.lock = (lambda: 0)

class NotRepeated(NotPickled):
    def step(self, action):
        observation, *more = super().step(action)
        return observation + time.time_ns() % 1000003, *more

class Half(gymnasium.ObservationWrapper):
    def __init__(self, env, by=2):
        super().__init__(env)
        self.by = by

    def observation(self, observation):
        return observation / self.by
)py";

class Gymnasium : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasGymnasium()) GTEST_SKIP() << "no gymnasium in .venv-oracle: run scripts/test";
    folder_ = fs::temp_directory_path() / ("gymnasium_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (folder_.empty()) return;
    fs::remove_all(folder_);
    EXPECT_EQ(Children(), "") << "a worker has outlived its env";
  }
  std::string File(const std::string& text, const std::string& name = "rows.py") {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  static json Python(json options) {
    options.emplace("python", kPython);
    return options;
  }
  json Counter(const json& kwargs = json::object(), const json& more = json::object()) {
    json options = {{"file", File(kCounter)}, {"class", "Counter"}, {"kwargs", kwargs}};
    options.update(more);
    return Python(options);
  }
  std::string Refusal(const json& options) {
    try {
      harness::Env env(kPlugin, 2, 1, Python(options));
    } catch (const std::exception& e) {
      return e.what();
    }
    return "accepted";
  }
  // The error of a row's third step.
  std::string Failure(const std::string& bad, const json& more = json::object()) {
    harness::Env env(kPlugin, 3, 1, Counter({{"bad", bad}}, more));
    EXPECT_EQ(env.Reset(0, {1, 2, 3}), BP_OK) << env.error();
    for (int t = 0; t < 2; ++t) EXPECT_EQ(env.Step(), BP_OK) << env.error();
    const bp_status status = env.Step();
    EXPECT_EQ(status, bad == "hangs" ? BP_E_TIMEOUT : BP_E_INTERNAL);
    const std::string error = env.error();
    EXPECT_EQ(Children(), "") << "after the failure";
    EXPECT_NE(env.Step(), BP_OK);
    EXPECT_THAT(env.error(), HasSubstr("the workers have ended"));
    return error;
  }

  fs::path folder_;
};

// One core means one process. The original cores are restored at the end.
class OneCore {
 public:
  OneCore() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &before_)) {
        CPU_SET(cpu, &one);
        break;
      }
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  int cores_before() const { return CPU_COUNT(&before_); }

 private:
  cpu_set_t before_;
};

std::vector<uint64_t> SeedsFor(uint64_t rows) {
  std::vector<uint64_t> seeds;
  for (uint64_t r = 0; r < rows; ++r) seeds.push_back(0x1234567800000000u + 17 * r);
  return seeds;
}

std::vector<std::string> Channels(const harness::Env& env) {
  std::vector<std::string> all;
  for (uint64_t c = 0; c < env.spec().n_channels; ++c) {
    const bp_channel& channel = env.spec().channels[c];
    std::string text =
        std::string(channel.name) + " " + std::to_string(channel.role) + " " + std::to_string(channel.space) + " [";
    for (int i = 0; i < channel.ndim; ++i) text += (i ? "," : "") + std::to_string(channel.shape[i]);
    text += "] " + std::to_string(channel.dtype.code) + ":" + std::to_string(channel.dtype.bits);
    for (int64_t i = 0; channel.nvec && i < (channel.space == BP_SPACE_DISCRETE ? 1 : channel.shape[0]); ++i)
      text += " " + std::to_string(channel.nvec[i]);
    all.push_back(text);
  }
  return all;
}

TEST_F(Gymnasium, SpacesAreChannels) {
  harness::Env env(kPlugin, 3, 1, Python({{"id", "CartPole-v1"}}));
  EXPECT_THAT(Channels(env), ElementsAre("obs 1 1 [4] 2:32", "action 3 2 [] 0:32 2", "reward 5 1 [] 2:32",
                                         "terminated 6 4 [] 1:8", "truncated 7 4 [] 1:8"));
  const bp_channel& obs = env.spec().channels[0];
  ASSERT_EQ(obs.n_bounds, 4u);
  EXPECT_FLOAT_EQ(static_cast<float>(obs.high[0]), 4.8f);
  EXPECT_EQ(obs.low[1], -INFINITY);
}

// Compared with Gymnasium in a separate process: the same seeds and actions.
TEST_F(Gymnasium, EqualsGymnasiumBitForBit) {
  constexpr int kRows = 3, kSteps = 40;
  const std::string script = File(R"py(
import gymnasium, sys
for row in range(3):
    env = gymnasium.make(sys.argv[1])
    seed = (0x1234567800000000 + 17 * row) & 0x7FFFFFFF
    observation, _ = env.reset(seed=seed)
    print(observation.astype("f4").tobytes().hex())
    for t in range(40):
        action = (t * 7 + row) % 3 % env.action_space.n
        observation, reward, terminated, truncated, _ = env.step(action)
        print(observation.astype("f4").tobytes().hex(), float(reward).hex(), int(terminated), int(truncated))
        if terminated or truncated:
            seed += 1
            observation, _ = env.reset(seed=seed)
            print(observation.astype("f4").tobytes().hex())
)py",
                                  "official.py");
  for (const std::string id : {"CartPole-v1", "MountainCar-v0", "Acrobot-v1"}) {
    std::istringstream official(OutputOf("'" + kPython + "' '" + script + "' " + id));
    harness::Env env(kPlugin, kRows, 1, Python({{"id", id}}));
    const int64_t size = env.Size("obs");
    const auto expect_obs = [&](int row) {
      std::string hex;
      ASSERT_TRUE(official >> hex) << id;
      std::string ours;
      char digits[3];
      const auto* bytes = reinterpret_cast<const unsigned char*>(env.Obs(row));
      for (size_t i = 0; i < size * sizeof(float); ++i) std::snprintf(digits, sizeof digits, "%02x", bytes[i]), ours += digits;
      ASSERT_EQ(ours, hex) << id << " row " << row;
    };
    for (int row = 0; row < kRows; ++row) {  // one row at a time, as the script does; the others stand still
      std::vector<uint64_t> seeds = SeedsFor(kRows);
      ASSERT_EQ(env.api().reset(env.get(), 0, row, row + 1, nullptr, seeds.data()), BP_OK) << env.error();
      expect_obs(row);
      for (int t = 0; t < kSteps; ++t) {
        *env.At<int32_t>("action", row) = (t * 7 + row) % 3 % static_cast<int>(env.spec().channels[1].nvec[0]);
        ASSERT_EQ(env.api().step(env.get(), 0, row, row + 1), BP_OK) << env.error();
        expect_obs(row);
        std::string reward;
        int terminated = -1, truncated = -1;
        ASSERT_TRUE(official >> reward >> terminated >> truncated);
        EXPECT_EQ(*env.At<float>("reward", row), static_cast<float>(std::strtod(reward.c_str(), nullptr)));
        EXPECT_EQ(*env.At<uint8_t>("terminated", row), terminated);
        EXPECT_EQ(*env.At<uint8_t>("truncated", row), truncated);
        if (terminated + truncated == 0) continue;
        ++seeds[row];
        ASSERT_EQ(env.api().reset(env.get(), 0, row, row + 1, nullptr, seeds.data()), BP_OK) << env.error();
        expect_obs(row);
      }
    }
  }
}

// All outputs of 30 steps of 5 rows.
std::vector<char> Played(const json& options) {
  harness::Env env(kPlugin, 5, 1, options);
  std::vector<uint64_t> seeds = SeedsFor(5);
  EXPECT_EQ(env.Reset(0, seeds), BP_OK) << env.error();
  std::vector<char> all = env.Bytes();
  for (int t = 0; t < 30; ++t) {
    for (int r = 0; r < 5; ++r) *env.At<int32_t>("action", r) = (t + r) % 2;
    EXPECT_EQ(env.Step(), BP_OK) << env.error();
    const std::vector<char> now = env.Bytes();
    all.insert(all.end(), now.begin(), now.end());
    std::vector<uint8_t> mask;
    for (int r = 0; r < 5; ++r) mask.push_back(*env.At<uint8_t>("terminated", r) | *env.At<uint8_t>("truncated", r));
    for (uint64_t& seed : seeds) ++seed;
    EXPECT_EQ(env.Reset(0, seeds, mask.data()), BP_OK) << env.error();
  }
  return all;
}

TEST_F(Gymnasium, OneWorkerAndTwoPlayTheSameBits) {
  const json options = Python({{"id", "CartPole-v1"}});
  std::vector<char> alone;
  {
    const OneCore one;
    if (one.cores_before() < 2) GTEST_SKIP() << "there is one core, so there are no two workers";
    alone = Played(options);
  }
  EXPECT_EQ(Played(options), alone);
}

TEST_F(Gymnasium, ResetsRowsOfTheMaskAndStepsRowsOfTheRange) {
  harness::Env env(kPlugin, 4, 1, Counter());
  ASSERT_EQ(env.Reset(0, {1, 2, 3, 4}), BP_OK) << env.error();
  ASSERT_EQ(env.api().step(env.get(), 0, 1, 4), BP_OK) << env.error();
  const uint8_t mask[] = {0, 1, 0, 0};
  ASSERT_EQ(env.Reset(0, {5, 6, 7, 8}, mask), BP_OK) << env.error();
  ASSERT_EQ(env.Step(), BP_OK) << env.error();
  const float wanted[4][2] = {{1, 1}, {6, 1}, {3, 2}, {4, 2}};  // seed, steps
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(env.Obs(r)[0], wanted[r][0]) << r;
    EXPECT_EQ(env.Obs(r)[1], wanted[r][1]) << r;
    EXPECT_EQ(*env.At<float>("reward", r), wanted[r][1] / 2);
  }
}

TEST_F(Gymnasium, TerminationAndTruncationAreTheEnvs) {
  harness::Env env(kPlugin, 1, 1, Counter());
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  for (int t = 1; t <= 7; ++t) {
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
    EXPECT_EQ(*env.At<uint8_t>("terminated"), t == 5);
    EXPECT_EQ(*env.At<uint8_t>("truncated"), t == 7);
  }
  EXPECT_EQ(env.spec().max_episode_steps, 0) << "no wrapper cuts its episodes";
  harness::Env limited(kPlugin, 1, 1, Python({{"id", "CartPole-v1"}, {"kwargs", {{"max_episode_steps", 4}}}}));
  EXPECT_EQ(limited.spec().max_episode_steps, 4);
  EXPECT_EQ(harness::Env(kPlugin, 1, 1, Python({{"id", "CliffWalking-v1"}})).spec().max_episode_steps, 0)
      << "registered without";
  ASSERT_EQ(limited.Reset(0, {1}), BP_OK);
  for (int t = 1; t <= 4; ++t) {
    ASSERT_EQ(limited.Step(), BP_OK);
    EXPECT_EQ(*limited.At<uint8_t>("truncated"), t == 4);
  }
}

// Every kind of space: the env receives the channels' actions, and the observation equals Gymnasium's flatten.
TEST_F(Gymnasium, ActionsReachTheEnvInItsSpace) {
  const std::string file = File(R"py(
import gymnasium, numpy
from gymnasium import spaces

class Echo(gymnasium.Env):
    def __init__(self):
        self.action_space = spaces.Dict({
            "box": spaces.Box(-1, 1, (2,), numpy.float64),
            "whole": spaces.Box(0, 9, (1,), numpy.int32),
            "pair": spaces.Tuple((spaces.Discrete(3, start=-1), spaces.MultiDiscrete([2, 5]))),
            "bits": spaces.MultiBinary(3),
        })
        self.observation_space = self.action_space

    def reset(self, *, seed=None, options=None):
        self.action_space.seed(seed)
        return self.action_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        assert action["box"].dtype == numpy.float64 and type(action["pair"][0]) is int
        return action, 0, False, False, {}
)py",
                                "gymnasium.py");  // a name that a different module has
  harness::Env env(kPlugin, 2, 1, Python({{"file", file}, {"class", "Echo"}}));
  EXPECT_THAT(Channels(env),
              ElementsAre("obs 1 1 [16] 2:32", "action/bits 3 4 [3] 1:8", "action/box 3 1 [2] 2:32",
                          "action/pair/0 3 2 [] 0:32 3", "action/pair/1 3 3 [2] 0:32 2 5", "action/whole 3 1 [1] 2:32",
                          "reward 5 1 [] 2:32", "terminated 6 4 [] 1:8", "truncated 7 4 [] 1:8"));
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK) << env.error();
  std::copy_n(std::begin({0.25f, -0.5f}), 2, env.At<float>("action/box", 1));
  *env.At<float>("action/whole", 1) = 6.7f;
  *env.At<int32_t>("action/pair/0", 1) = 2;
  std::copy_n(std::begin({1, 3}), 2, env.At<int32_t>("action/pair/1", 1));
  std::copy_n(std::begin<uint8_t>({1, 0, 1}), 3, env.At<uint8_t>("action/bits", 1));
  ASSERT_EQ(env.Step(), BP_OK) << env.error();
  // The parts by name; Discrete and MultiDiscrete have one number per choice.
  EXPECT_THAT(std::vector<float>(env.Obs(1), env.Obs(1) + 16),
              ElementsAre(1, 0, 1, 0.25f, -0.5f, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 7));
}

TEST_F(Gymnasium, WrappersAreApplied) {
  const json half = {{"wrappers", {"Half", {{"Half", {{"by", 4}}}}, "gymnasium.wrappers:RecordEpisodeStatistics"}}};
  harness::Env env(kPlugin, 1, 1, Counter(json::object(), half));
  ASSERT_EQ(env.Reset(0, {16}), BP_OK) << env.error();
  EXPECT_EQ(env.Obs()[0], 2);
  const json limit = {{"wrappers", json::array({{{"TimeLimit", {{"max_episode_steps", 1}}}}})}};
  harness::Env limited(kPlugin, 1, 1, Counter(json::object(), limit));
  ASSERT_EQ(limited.Reset(0, {16}), BP_OK);
  ASSERT_EQ(limited.Step(), BP_OK);
  EXPECT_EQ(*limited.At<uint8_t>("truncated"), 1);
}

TEST_F(Gymnasium, RejectsAnEnvThatCannotBeCreatedWithItsReason) {
  const std::string file = File(kCounter);
  EXPECT_THAT(Refusal(json::object()), HasSubstr("expected the env's `id`, or `file` and `class`, got neither"));
  EXPECT_THAT(Refusal({{"id", "a"}, {"file", file}, {"class", "b"}}), HasSubstr("got both (test.yaml:file)"));
  EXPECT_THAT(Refusal({{"file", file}}), HasSubstr("expected `class`, the env in it, got none"));
  EXPECT_THAT(Refusal({{"id", "CartPole-v1"}, {"class", "b"}}), HasSubstr("expected `file` with this class, got none"));
  EXPECT_THAT(Refusal({{"id", "CardPole-v1"}}), AllOf(HasSubstr("id: "), HasSubstr("CardPole"), HasSubstr("Did you mean")));
  EXPECT_THAT(Refusal({{"id", "no_such_module:Env-v0"}}), HasSubstr("id: No module named 'no_such_module'"));
  EXPECT_THAT(Refusal({{"file", file}, {"class", "Count"}}),
              AllOf(HasSubstr("class: 'Count' is not in"), HasSubstr("Counter, NotPickled, NotRepeated, Half")));
  EXPECT_THAT(Refusal({{"id", "CartPole-v1"}, {"wrappers", {"TimeLimits"}}}),
              HasSubstr("wrappers: 'TimeLimits' is not in gymnasium.wrappers"));
  EXPECT_THAT(Refusal({{"id", "CartPole-v1"}, {"wrappers", {3}}}),
              HasSubstr("wrappers: expected a name, or {name: {argument: value}}"));
  EXPECT_THAT(Refusal({{"id", "CartPole-v1"}, {"kwargs", {{"lenght", 3}}}}),
              AllOf(HasSubstr("TypeError"), HasSubstr("'lenght'"), HasSubstr("Traceback")));
  EXPECT_THAT(Refusal({{"id", "CartPole-v1"}, {"python", "/no/python"}}),
              HasSubstr("python: cannot start '/no/python': No such file or directory"));
  EXPECT_THAT(Refusal({{"file", File("import gymnasium\nx = 1 +\n", "broken.py")}, {"class", "A"}}),
              AllOf(HasSubstr("SyntaxError"), HasSubstr("broken.py\", line 2")));
  EXPECT_THAT(
      Refusal({{"file", File("import gymnasium\nclass A(gymnasium.Env):\n  observation_space = gymnasium.spaces.Text(3)\n"
                             "  action_space = gymnasium.spaces.Discrete(2)\n",
                             "text.py")},
               {"class", "A"}}),
      HasSubstr("observation_space: expected Box, Discrete, MultiDiscrete, MultiBinary"));
  EXPECT_THAT(Refusal({{"file", File("class A:\n  pass\n", "no_env.py")}, {"class", "A"}}),
              HasSubstr("expected a Gymnasium env, got 'A'"));
}

TEST_F(Gymnasium, AnExceptionIsTheRowAndItsTraceback) {
  EXPECT_THAT(Failure("raises"), AllOf(HasSubstr("row 0: ValueError: no step 3 (rows.py:"), HasSubstr("rows.py\", line"),
                                       HasSubstr("in fail"), HasSubstr("raise ValueError"), Not(HasSubstr("/proc/self/fd"))));
  EXPECT_THAT(Failure("exits"), HasSubstr("row 0: SystemExit: 3"));
  EXPECT_THAT(Failure("shape"),
              HasSubstr("ValueError: observation: expected an observation of shape (3,), as in observation_space, got (4,)"));
}

TEST_F(Gymnasium, ReportsTheSignalAndLastOutputOfAKilledProcess) {
  EXPECT_THAT(Failure("is_killed"), AllOf(HasSubstr("worker "), HasSubstr("was killed by signal 9 (Killed)"),
                                          HasSubstr("its last output:\nabout to go")));
  EXPECT_THAT(Failure("crashes"),
              AllOf(HasSubstr("was killed by signal 11"), HasSubstr("Segmentation fault"), HasSubstr("rows.py\", line")));
}

TEST_F(Gymnasium, ReportsWhereAHangingProcessIs) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(Failure("hangs", {{"timeout", 5}}), AllOf(HasSubstr("did not answer within timeout: 5 s"), HasSubstr("in fail"),
                                                        HasSubstr("rows.py\", line"), HasSubstr("in step")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
}

TEST_F(Gymnasium, ToleratesHundredMegabytesOfPrint) {
  harness::Env env(kPlugin, 2, 1, Counter({{"bad", "prints"}}));
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK);
  for (int t = 0; t < 4; ++t) ASSERT_EQ(env.Step(), BP_OK) << env.error();
  uint64_t logged = 0;
  for (const std::string& note : env.notes()) logged += note.size();
  EXPECT_GT(logged, 10'000u);
  EXPECT_LT(logged, 200'000u);
  EXPECT_THAT(env.warnings(), ElementsAre(HasSubstr("printed more than 64 KiB")));
  EXPECT_THAT(env.notes(), Contains(HasSubstr("have printed 100 MB more")));
}

TEST_F(Gymnasium, WorkersEndWithTheProcessThatStartedThem) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const json options = Counter({{"bad", "hangs"}});
  const pid_t child = fork();
  if (child == 0) {
    harness::Env env(kPlugin, 2, 1, options);
    const std::string workers = Children();
    env.Reset(0, {1, 2});
    for (int t = 0; t < 2; ++t) env.Step();
    if (write(ends[1], workers.data(), workers.size()) < 0) _exit(1);
    env.Step();
    _exit(0);
  }
  close(ends[1]);
  char text[64] = {};
  ASSERT_GT(read(ends[0], text, sizeof text - 1), 0);
  usleep(200'000);  // it hangs now
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::istringstream workers(text);
  int found = 0;
  for (pid_t pid; workers >> pid; ++found) {
    for (int i = 0; i < 100 && kill(pid, 0) == 0; ++i) usleep(20'000);
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stat, line);
    EXPECT_TRUE(line.empty() || line.find(") Z ") != std::string::npos) << line;
  }
  EXPECT_GE(found, 1);
  close(ends[0]);
}

TEST_F(Gymnasium, RowsResumeFromASavedStateWithAnyNumberOfWorkers) {
  const json options = Python({{"id", "CartPole-v1"}});
  harness::Env env(kPlugin, 5, 1, options);
  ASSERT_EQ(env.Reset(0, SeedsFor(5)), BP_OK);
  const auto step = [](harness::Env& e, int t) {
    for (int r = 0; r < 5; ++r) *e.At<int32_t>("action", r) = (t + r) % 2;
    ASSERT_EQ(e.Step(), BP_OK) << e.error();
  };
  for (int t = 0; t < 4; ++t) step(env, t);
  const std::string saved = harness::Saved(env);
  const OneCore one;
  harness::Env other(kPlugin, 5, 1, options);
  ASSERT_EQ(harness::LoadedFrom(other, saved), BP_OK) << other.error();
  for (int t = 4; t < 12; ++t) {
    step(env, t), step(other, t);
    ASSERT_EQ(env.Bytes(), other.Bytes()) << t;
  }
  EXPECT_NE(harness::LoadedFrom(other, saved.substr(0, saved.size() - 1)), BP_OK);
  harness::Env fewer(kPlugin, 4, 1, options);
  EXPECT_EQ(harness::LoadedFrom(fewer, saved), BP_E_INVALID_ARG);
  EXPECT_THAT(fewer.error(), HasSubstr("its number of rows: expected 4, got 5"));
}

// Its rows are their seeds and actions.
TEST_F(Gymnasium, RowsThatPickleLosesResumeWithAnyNumberOfWorkers) {
  const json options = Python({{"file", File(kCounter)}, {"class", "NotPickled"}});
  harness::Env env(kPlugin, 5, 1, options);
  const auto step = [](harness::Env& e, int t) {
    for (int r = 0; r < 5; ++r) *e.At<int32_t>("action", r) = (t + r) % 3;
    ASSERT_EQ(e.Step(), BP_OK) << e.error();
  };
  ASSERT_EQ(env.Reset(0, SeedsFor(5)), BP_OK);
  for (int t = 0; t < 3; ++t) step(env, t);
  const std::string saved = harness::Saved(env);
  const OneCore one;
  harness::Env other(kPlugin, 5, 1, options);
  ASSERT_EQ(harness::LoadedFrom(other, saved), BP_OK) << other.error();
  EXPECT_EQ(harness::Saved(other), saved);
  for (int t = 3; t < 5; ++t) {
    step(env, t), step(other, t);
    ASSERT_EQ(env.Bytes(), other.Bytes()) << t;
  }
}

TEST_F(Gymnasium, RowsThatCannotBePlayedAgainOfferNoState) {
  harness::Env env(kPlugin, 1, 1, Python({{"file", File(kCounter)}, {"class", "NotRepeated"}}));
  EXPECT_EQ(env.api().get_extension(env.get(), BP_ENV_STATE_1), nullptr);
  EXPECT_THAT(env.notes(), Contains(HasSubstr("starts new episodes, because its rows cannot be saved")));
}

TEST_F(Gymnasium, APictureIsTheRowsArrayAsPng) {
  harness::Env env(kPlugin, 2, 1, Counter());
  const auto* render = static_cast<const bp_env_render_1*>(env.api().get_extension(env.get(), BP_ENV_RENDER_1));
  ASSERT_NE(render, nullptr);
  ASSERT_EQ(render->format, static_cast<uint32_t>(BP_RENDER_PNG));
  uint32_t width = 0, height = 0;
  ASSERT_EQ(render->size(env.get(), &width, &height), BP_OK) << env.error();
  EXPECT_EQ(width, 30u);
  EXPECT_EQ(height, 20u);
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK);
  ASSERT_EQ(env.Step(), BP_OK);
  harness::Bytes picture;
  const bp_writer writer{sizeof writer, 0, &picture, [](const bp_writer* w, const void* data, uint64_t n) -> bp_status {
                           static_cast<harness::Bytes*>(w->impl)->data.append(static_cast<const char*>(data), n);
                           return BP_OK;
                         }};
  ASSERT_EQ(render->frame(env.get(), 1, &writer), BP_OK) << env.error();
  std::ofstream(folder_ / "picture.png") << picture.data;
  const std::string read =
      OutputOf("'" + kPython + "' -c \"from PIL import Image; i = Image.open('" + (folder_ / "picture.png").string() +
               "'); print(i.size, i.mode, [y for y in range(20) if i.getpixel((7, y)) == (255, 255, 255)])\"");
  EXPECT_EQ(read, "(30, 20) RGB [1]\n");
  harness::Env plain(kPlugin, 1, 1,
                     Python({{"file", File("import gymnasium\n"
                                           "class A(gymnasium.Env):\n"
                                           "  action_space = observation_space = gymnasium.spaces.Discrete(2)\n"
                                           "  def reset(self, seed=None, options=None):\n    return 0, {}\n"
                                           "  def step(self, action):\n    return 0, 0.0, False, False, {}\n",
                                           "plain.py")},
                             {"class", "A"}}));
  EXPECT_EQ(plain.api().get_extension(plain.get(), BP_ENV_RENDER_1), nullptr) << "it has no render mode";
}

}  // namespace
