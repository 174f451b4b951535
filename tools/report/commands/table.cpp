// --table: what a batch ends with on the screen where its file asks for no report.
#include <cstdio>

#include "base/text_columns.hpp"
#include "commands/commands.hpp"
#include "commands/screen_text.hpp"
#include "kinds/final_table.hpp"
#include "record/report_requests.hpp"

namespace backplane {

int TableCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<TableRequest>(json);
  size_t eligible = 0;
  const Table table = FinalTable(ReadResultSet(request.out), request.live, &eligible);
  if (const std::string best = BestOf(table, eligible); !best.empty())
    std::fputs((WrapAfter("  ", "    ", best, request.width - 4) + "\n").c_str(), stdout);
  std::fputs(ScreenText(table, request.width, request.colour).c_str(), stdout);
  return 0;
}

}  // namespace backplane
