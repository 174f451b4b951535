// --table: prints the final table of a batch without a report.
#include <cstdio>

#include "base/text_columns.hpp"
#include "commands/commands.hpp"
#include "commands/screen_text.hpp"
#include "kinds/build_report.hpp"
#include "kinds/final_table.hpp"
#include "record/report_requests.hpp"

namespace backplane {

int TableCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<TableRequest>(json);
  const ResultSet set = ReadResultSet(request.out);
  std::fputs((WrapAfter("  ", "    ", FirstSentence({set}, "backplane"), request.width - 4) + "\n").c_str(), stdout);
  std::fputs(ScreenText(FinalTable(set, request.live, DecidingQuestion({set})), request.width, request.colour).c_str(), stdout);
  return 0;
}

}  // namespace backplane
