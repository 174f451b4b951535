// Classes of envs in Python, written to a file, as options of env.gymnasium and env.pettingzoo. The interpreter is
// .venv-oracle's, which scripts/test makes.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "places.hpp"
#include "support/env_harness.hpp"

namespace python_errors {

namespace fs = std::filesystem;
using nlohmann::json;

inline const std::string kGymnasium = BACKPLANE_PLUGIN_DIR "/env_gymnasium.so",
                         kPettingZoo = BACKPLANE_PLUGIN_DIR "/env_pettingzoo.so";
inline const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";

class PythonErrors : public testing::Test {
 protected:
  void SetUp() override {
    static const bool has = std::system(("'" + kPython + "' -c 'import gymnasium, pettingzoo' 2>/dev/null").c_str()) == 0;
    if (!has) GTEST_SKIP() << "no gymnasium in .venv-oracle: run scripts/test";
    folder_ = fs::temp_directory_path() / ("python_errors_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  json Class(const std::string& text, const std::string& name, json more = json::object()) {
    std::ofstream(folder_ / "walk.py") << text;
    more.update({{"file", (folder_ / "walk.py").string()}, {"class", name}, {"python", kPython}});
    return more;
  }
  static std::string Refusal(const json& options, const std::string& plugin = kGymnasium) {
    try {
      harness::Env env(plugin, 1, 1, options);
      return env.warnings().empty() ? "accepted" : env.warnings().front();
    } catch (const std::exception& e) {
      return e.what();
    }
  }

  fs::path folder_;
};

// An env that fails in its step `at` of episodes with odd seeds, in the way `how`.
inline constexpr char kRaising[] = R"py(
import json
import gymnasium, numpy

class Walk(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-numpy.inf, numpy.inf, (2,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)
    def __init__(self, how="", at=3):
        self.how, self.at, self.resets = how, at, 0
    def reset(self, *, seed=None, options=None):
        self.seed, self.t, self.resets = seed, 0, self.resets + 1
        if self.how == "reset" and self.resets == 6:
            raise RuntimeError("stuck")
        return numpy.array([seed, 0], numpy.float32), {}
    def step(self, action):
        self.t += 1
        reward = 1.0
        if self.t == self.at and self.seed % 2:
            reward = self.fail()
        observation = numpy.array([self.seed, self.t], numpy.float32)
        if self.t == self.at and self.seed % 2 and self.how == "nan_obs":
            observation[1] = numpy.nan
        return observation, reward, self.t == 5, False, {}
    def fail(self):
        if self.how == "raise":
            raise ValueError("no step\nin this state")
        if self.how == "library":
            json.loads("{")
        if self.how == "surrogate":
            raise OSError("\udc80 is no file")
        if self.how == "unreadable":
            class Odd(Exception):
                def __str__(self):
                    raise KeyError
            raise Odd
        if self.how == "memory":
            raise MemoryError
        return float("inf") if self.how == "inf_reward" else 1.0
)py";

}  // namespace python_errors
