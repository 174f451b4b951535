// A learner written in Python, run by a process of its own (common/python_env). The program worker/learner.py is the other
// side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arena.hpp"
#include "backplane/learner.hpp"
#include "python_env/workers.hpp"

namespace backplane::python_env {

struct LearnerOptions {
  std::filesystem::path file;
  std::string class_name, python;
  bp::AnyValue kwargs, files{"[]"};
  double timeout = 240;
  int64_t threads = 1;
  bool uses_budget = false;

  std::string Interpreter() const;
};

class PythonLearner : public bp::Learner {
 public:
  PythonLearner(const bp::LearnerSetup& setup, const LearnerOptions& options);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  void Plan(const bp_limits& limits, bp_request* out_request) override;
  void Consume(const bp::Delivery& delivery) override;
  void Act(const bp_act& act) override;

  bool KeepsState() const { return keeps_state_; }
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);

 private:
  nlohmann::json Ask(char kind, const nlohmann::json& request);
  void Declare(const bp_env_spec& env, const nlohmann::json& said);
  void RecordFacts(const nlohmann::json& said);
  nlohmann::json Given(const char* name, const bp_tensor& tensor);

  const bool uses_budget_;
  Arena arena_;
  mutable Workers workers_;
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
  bool keeps_state_ = false;
  uint64_t agents_ = 1, version_ = 0;  // version_: of the policy
  std::vector<uint16_t> in_scopes_, out_scopes_;
  Arena::Block acted_, delivered_;
  std::string word_;             // phase or tag of the request
  std::vector<uint64_t> seeds_;  // of the candidates in the request
};

}  // namespace backplane::python_env
