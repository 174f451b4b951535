// The order of `backplane evaluate` to a trial's process, and its answer, each one file of JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/trial_file.hpp"

namespace backplane {

using Factors = std::map<std::string, double>;  // of physical parameters by name (ext/parameters.h); the others are 1

// Policies that an order names.
inline constexpr char kLearnerPolicy[] = "learner", kZeroPolicy[] = "zero", kUniformPolicy[] = "uniform";

struct EvaluationOrder {
  std::filesystem::path checkpoint_dir;  // the trial's
  std::string checkpoint;                // its name (contract/checkpoint_files.hpp)
  std::optional<TrialPlugin> env;        // absent: the training's
  nlohmann::json env_options;            // all that are set; of the training's env, they replace its options one by one
  uint64_t episodes = 0, seed = 0;
  uint64_t threads = 0;  // 0: all cores
  struct Play {
    std::string policy;
    Factors factors;

    static void Fields(auto& self, auto&& visit) {
      visit("policy", self.policy);
      visit("factors", self.factors);
    }
  };
  std::vector<Play> plays;
  std::filesystem::path answer;  // the file to write; next to it, the process keeps its status
  std::filesystem::path film;    // instead of the plays, films episode `film_episode` into this file (record/film.hpp)
  uint64_t film_episode = 0;

  static void Fields(auto& self, auto&& visit) {
    visit("checkpoint_dir", self.checkpoint_dir);
    visit("checkpoint", self.checkpoint);
    visit("env", self.env);
    visit("env_options", self.env_options);
    visit("episodes", self.episodes);
    visit("seed", self.seed);
    visit("threads", self.threads);
    visit("plays", self.plays);
    visit("answer", self.answer);
    visit("film", LeftOutIfEmpty(self.film));
    visit("film_episode", self.film_episode);
  }
};

// The result of one play, by episode.
struct PlayedEpisodes {
  std::vector<double> returns, lengths;
  std::map<std::string, std::vector<double>> infos;  // "ep/..."
  uint64_t capped = 0;                               // truncated at evaluation.max_episode_steps
  double wall_s = 0;

  static void Fields(auto& self, auto&& visit) {
    visit("returns", self.returns);
    visit("lengths", self.lengths);
    visit("infos", self.infos);
    visit("capped", self.capped);
    visit("wall_s", self.wall_s);
  }
};

struct EvaluationAnswer {
  std::optional<uint64_t> iterations;  // before the checkpoint; absent: the learner has no state
  uint64_t cap = 0;                    // steps of an episode that the env does not end
  std::vector<PlayedEpisodes> plays;   // in the order's order; without episodes: there are no uniform actions

  static void Fields(auto& self, auto&& visit) {
    visit("iterations", self.iterations);
    visit("cap", self.cap);
    visit("plays", self.plays);
  }
};

}  // namespace backplane
