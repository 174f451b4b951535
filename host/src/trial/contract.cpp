#include "trial/contract.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/files.hpp"

namespace backplane {
namespace {

nlohmann::json ToJson(const TrialPlugin& plugin) { return {{"file", plugin.file.string()}, {"id", plugin.id}}; }
TrialPlugin PluginFromJson(const nlohmann::json& json) { return {json.at("file").get<std::string>(), json.at("id")}; }

nlohmann::json ToJson(const std::optional<StartFrom>& from) {
  if (!from) return nullptr;
  return {{"trial_id", from->trial_id}, {"checkpoint_dir", from->checkpoint_dir.string()}};
}

}  // namespace

nlohmann::json ToJson(const TrialSpec& spec) {
  nlohmann::json monitors = nlohmann::json::array();
  for (const TrialPlugin& monitor : spec.monitors) monitors.push_back(ToJson(monitor));
  return {{"schema", kTrialSchema},
          {"trial_id", spec.trial_id},
          {"attempt", spec.attempt},
          {"config", ToJson(spec.experiment)},
          {"plugins", {{"env", ToJson(spec.env)}, {"learner", ToJson(spec.learner)}, {"monitors", monitors}}},
          {"origin", spec.origin},
          {"attempt_dir", spec.attempt_dir.string()},
          {"checkpoint_dir", spec.checkpoint_dir.string()},
          {"torch_lib", spec.torch_lib.string()},
          {"resume", spec.resume},
          {"start_from", ToJson(spec.start_from)},
          {"seeds", spec.seeds}};
}

TrialSpec TrialSpecFromJson(const nlohmann::json& json) {
  try {
    if (json.at("schema") != kTrialSchema)
      throw std::runtime_error("schema " + json.at("schema").dump() + ", this program reads " + std::to_string(kTrialSchema));
    TrialSpec spec;
    spec.trial_id = json.at("trial_id");
    spec.attempt = json.at("attempt");
    spec.experiment = ExperimentFromJson(json.at("config"));
    const nlohmann::json& plugins = json.at("plugins");
    spec.env = PluginFromJson(plugins.at("env"));
    spec.learner = PluginFromJson(plugins.at("learner"));
    for (const nlohmann::json& monitor : plugins.at("monitors")) spec.monitors.push_back(PluginFromJson(monitor));
    spec.origin = json.at("origin").get<std::map<std::string, std::string>>();
    spec.attempt_dir = json.at("attempt_dir").get<std::string>();
    spec.checkpoint_dir = json.at("checkpoint_dir").get<std::string>();
    spec.torch_lib = json.at("torch_lib").get<std::string>();
    spec.resume = json.at("resume");
    if (const auto from = json.find("start_from"); from != json.end() && !from->is_null())
      spec.start_from = StartFrom{from->at("trial_id"), from->at("checkpoint_dir").get<std::string>()};
    spec.seeds = std::max<uint64_t>(1, json.value("seeds", uint64_t{1}));
    return spec;
  } catch (const nlohmann::json::exception& e) {
    throw std::runtime_error(std::string("not a trial file: ") + e.what());
  }
}

TrialSpec ReadTrialSpec(const std::filesystem::path& trial_json) {
  const auto text = ReadFile(trial_json);
  if (!text) throw std::runtime_error(trial_json.string() + " cannot be read");
  try {
    return TrialSpecFromJson(nlohmann::json::parse(*text));
  } catch (const std::exception& e) {
    throw std::runtime_error(trial_json.string() + ": " + e.what());
  }
}

}  // namespace backplane
