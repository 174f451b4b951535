#include "trial/checkpoint_v1.hpp"

namespace backplane {
namespace {

struct Blob {
  std::string name;
  uint64_t bytes = 0;

  static void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("bytes", self.bytes);
  }
};

struct Window {
  uint64_t total = 0;
  std::vector<std::string> names;
  std::vector<nlohmann::json> items;  // [return, length, [infos]]

  static void Fields(auto& self, auto&& visit) {
    visit("total", self.total);
    visit("names", self.names);
    visit("items", self.items);
  }
};

struct Meta {
  std::string trial_id;
  uint64_t iterations = 0, env_steps = 0, policy_steps = 0;
  double seconds = 0;
  Window window;
  std::optional<nlohmann::json> data;
  std::optional<Iteration> unwritten;

  static void Fields(auto& self, auto&& visit) {
    visit("trial_id", self.trial_id);
    visit("iterations", self.iterations);
    visit("env_steps", self.env_steps);
    visit("policy_steps", self.policy_steps);
    visit("seconds", self.seconds);
    visit("window", self.window);
    visit("data", self.data);
    visit("unwritten", self.unwritten);
  }
};

struct File {
  Meta meta;
  std::vector<Blob> blobs;

  static void Fields(auto& self, auto&& visit) {
    visit("meta", self.meta);
    visit("blobs", self.blobs);
  }
};

SavedEpisode EpisodeOf(const nlohmann::json& item) {
  if (!item.is_array() || item.size() != 3) throw RecordError("\"meta.window.items\": wanted [return, length, infos] each");
  return RecordFromJson<SavedEpisode>(nlohmann::json{{"return", item[0]}, {"length", item[1]}, {"infos", item[2]}});
}

// The first versions did not keep what they had shrunk.
DataPosition PositionOf(nlohmann::json data) {
  if (data.is_object()) data.emplace("shrinks", nlohmann::json::array());
  return RecordFromJson<DataPosition>(data);
}

}  // namespace

CheckpointHeader HeaderOfV1(const nlohmann::json& json) {
  const auto [meta, blobs] = RecordFromJson<File>(json);
  CheckpointHeader header;
  header.trial_id = meta.trial_id;
  header.at_end = true;  // it does not say; of a trial that has ended there was only this one
  header.iterations = meta.iterations;
  header.env_steps = meta.env_steps;
  header.policy_steps = meta.policy_steps;
  header.seconds = meta.seconds;
  header.window = {meta.window.total, meta.window.names, {}};
  for (const nlohmann::json& item : meta.window.items) header.window.episodes.push_back(EpisodeOf(item));
  if (meta.data) header.data = PositionOf(*meta.data);
  header.unwritten = meta.unwritten;
  for (const Blob& blob : blobs) header.parts.push_back({blob.name, blob.bytes, ""});
  return header;
}

}  // namespace backplane
