// --table: what a batch ends with on the screen where its file asks for no report.
#include <cstdio>

#include "commands/commands.hpp"
#include "commands/screen_text.hpp"
#include "kinds/final_table.hpp"
#include "record/report_requests.hpp"

namespace backplane {

int TableCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<TableRequest>(json);
  std::fputs(ScreenText(FinalTable(ReadResultSet(request.out), request.live), request.width).c_str(), stdout);
  return 0;
}

}  // namespace backplane
