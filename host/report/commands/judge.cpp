// --judge: what the trials of a comparison say so far, for `compare`.
#include <cstdio>

#include "base/json_text.hpp"
#include "commands/commands.hpp"
#include "kinds/build_report.hpp"
#include "record/compare_answer.hpp"

namespace backplane {

int JudgeCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<JudgeRequest>(json);
  std::printf("%s\n", JsonText(ToJson(JudgeArms(request))).c_str());
  return 0;
}

}  // namespace backplane
