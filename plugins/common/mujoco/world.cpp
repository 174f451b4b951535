#include "mujoco/world.hpp"

#include <charconv>

#include "mujoco/collisions.hpp"

namespace mj {
namespace {

const char* JointName(int type) {
  static constexpr const char* kNames[] = {"free", "ball", "slide", "hinge"};
  static_assert(mjJNT_FREE == 0 && mjJNT_BALL == 1 && mjJNT_SLIDE == 2 && mjJNT_HINGE == 3);
  return kNames[type];
}

}  // namespace

CompiledModel::CompiledModel(const std::filesystem::path& xml_path, const BuiltIn& built_in)
    : name_(xml_path.string()),
      model_(name_.empty() ? LoadText(built_in.file_name, built_in.xml) : LoadFile("xml_path", name_)),
      fingerprint_(Fingerprint(model())) {
  if (name_.empty()) name_ = built_in.file_name;
  Require(model_->njnt > 0 && model_->jnt_type[0] == built_in.root,
          std::string("a ") + JointName(built_in.root) + " joint first",
          model_->njnt == 0 ? "no joint" : std::string("a ") + JointName(model_->jnt_type[0]) + " joint");
  Require(model_->nu > 0, "at least one actuator", "none");
  for (int i = 0; i < nu(); ++i)
    Require(model_->actuator_ctrlrange[2 * i] < model_->actuator_ctrlrange[2 * i + 1],
            "a ctrlrange for every actuator, as the bounds of the actions", "none for actuator " + std::to_string(i));
  model_ = Quickened(std::move(model_), name_, xml_path.empty() ? built_in.xml : "");
}

int CompiledModel::Body(const char* option, const std::string& name) const {
  int id = mj_name2id(model(), mjOBJ_BODY, name.c_str());
  if (id >= 0) return id;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, id);
  if (error == std::errc() && stop == end && id >= 0 && id < nbody()) return id;
  std::string bodies;
  for (int i = 0; i < nbody(); ++i) {
    const char* known = mj_id2name(model(), mjOBJ_BODY, i);
    bodies += (i ? ", " : "") + std::to_string(i) + (known && *known ? std::string(" ") + known : "");
  }
  throw bp::ConfigError(std::string(option) + ": model '" + name_ + "' has no body '" + name + "'; bodies: " + bodies);
}

void CompiledModel::Require(bool holds, const std::string& wanted, const std::string& found) const {
  if (!holds) throw bp::ConfigError("xml_path: model '" + name_ + "': expected " + wanted + ", got " + found);
}

void RequireOrder(const char* low_name, double low, const char* high_name, double high) {
  if (low > high)
    throw bp::ConfigError(std::string(low_name) + ": expected at most " + high_name + ", got " + std::to_string(low) + " and " +
                          std::to_string(high));
}

}  // namespace mj
