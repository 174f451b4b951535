// --judge and --gate: interim verdicts for `compare` and `gate`.
#include <cstdio>

#include "base/json_text.hpp"
#include "commands/commands.hpp"
#include "kinds/build_report.hpp"
#include "kinds/gate_judge.hpp"
#include "record/compare_answer.hpp"

namespace backplane {

int JudgeCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<JudgeRequest>(json);
  std::printf("%s\n", JsonText(ToJson(JudgeArms(request))).c_str());
  return 0;
}

int GateCommand(const nlohmann::json& json) {
  std::printf("%s\n", JsonText(ToJson(JudgeGate(RecordFromJson<GateRequest>(json)))).c_str());
  return 0;
}

}  // namespace backplane
