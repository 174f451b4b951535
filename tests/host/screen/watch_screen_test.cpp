#include "screen/watch_screen.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <regex>

namespace backplane {
namespace {

using testing::HasSubstr;

std::string Shown(const Screen& screen, const std::function<void(BatchScreen&)>& use) {
  std::FILE* file = std::tmpfile();
  {
    BatchScreen shown(file, screen);
    use(shown);
  }
  std::fseek(file, 0, SEEK_SET);
  std::string text(1 << 16, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

// The contents of a terminal after `text`: supports lines, cursor up, erase to the end of the line and of the screen.
std::string Terminal(const std::string& text) {
  std::vector<std::string> lines(1);
  size_t row = 0, column = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++row;
      column = 0;
      lines.resize(std::max(lines.size(), row + 1));
    } else if (text[i] == '\r') {
      column = 0;
    } else if (text[i] == '\x1b') {
      size_t end = i + 2;
      while (std::isdigit(static_cast<unsigned char>(text[end])) != 0 ||
             text[end] == '?') {  // '?': the cursor, synchronized updates
        ++end;
      }
      if (text[end] == 'A') {
        row -= std::stoul(text.substr(i + 2));
      } else if (text[end] == 'K' || text[end] == 'J') {
        lines[row].resize(column);
        lines.resize(text[end] == 'J' ? row + 1 : lines.size());
      }
      i = end;
    } else {
      lines[row].resize(std::max(lines[row].size(), column + 1), ' ');
      lines[row][column++] = text[i];
    }
  }
  std::string all;
  for (const std::string& line : lines) {
    all += line + "\n";
  }
  return all;
}

const Screen kLive = {.live = true, .colour = false, .width = 80, .height = 24, .utf8 = false};
const Screen kFile = {.live = false, .colour = false, .width = 80, .height = 24, .utf8 = false};

TEST(BatchScreen, RedrawsInPlaceAlsoWhenTheBlockShrinks) {
  std::vector<BatchRow> rows(3);
  rows[0].name = "a";
  rows[1].name = "b";
  rows[2].name = "a name that is long";
  const std::string text = Shown(kLive, [&](BatchScreen& screen) {
    screen.Update(rows, {1, std::nullopt, ""});
    rows.resize(2);
    screen.Update(rows, {2, std::nullopt, ""});
    screen.Leave();
  });
  EXPECT_EQ("0 of 2 done   0:02\n  trial  state    progress  steps/s  return  time\n  a      planned\n  b      planned\n\n",
            Terminal(text));
}

TEST(BatchScreen, NotesStayAboveTheBlockAndClearRemovesIt) {
  std::vector<BatchRow> rows(1);
  rows[0].name = "a";
  const auto use = [&](BatchScreen& screen) {
    screen.Note("before");
    screen.Update(rows, {1, std::nullopt, ""});
    screen.Note("in between");
  };
  EXPECT_EQ("before\nin between\n\n", Terminal(Shown(kLive, use))) << "the block was removed";
  const std::string left = Shown(kLive, [&](BatchScreen& screen) {
    use(screen);
    screen.Leave();
  });
  EXPECT_THAT(Terminal(left), HasSubstr("before\nin between\n0 of 1 done   0:01\n"));
}

TEST(BatchScreen, PrintsStartsEndsAndTotalsWithoutATerminal) {
  std::vector<BatchRow> rows(2);
  rows[0].name = "a";
  rows[1].name = "b";
  const std::string text = Shown(kFile, [&](BatchScreen& screen) {
    rows[0].state = TrialState::kRunning;
    screen.Update(rows, {0, std::nullopt, ""});
    screen.Update(rows, {10, std::nullopt, ""});
    rows[0].state = TrialState::kCompleted;
    rows[1].state = TrialState::kRunning;
    screen.Update(rows, {20, std::nullopt, ""});
    screen.Update(rows, {31, std::nullopt, ""});
  });
  const std::regex time("(^|\n)[0-2][0-9]:[0-5][0-9]:[0-5][0-9]  ");
  EXPECT_EQ(5, std::distance(std::sregex_iterator(text.begin(), text.end(), time), std::sregex_iterator()));
  EXPECT_EQ("a  running\n0 of 2 done, 1 running   0:00\na  completed\nb  running\n1 of 2 done, 1 running   0:31\n",
            std::regex_replace(text, time, "$1"));
}

TEST(BatchScreen, OmitsTrialsThatEndedBefore) {
  std::vector<BatchRow> rows(3);
  rows[0].name = "a", rows[1].name = "b", rows[2].name = "c";
  rows[0].state = TrialState::kCompleted;
  const std::string text = Shown(kFile, [&](BatchScreen& screen) {
    screen.BeginWith(rows);
    rows[1].state = TrialState::kCompleted;  // too short to be seen running
    screen.Update(rows, {0, std::nullopt, ""});
  });
  EXPECT_THAT(text, testing::Not(HasSubstr("a  completed")));
  EXPECT_THAT(text, HasSubstr("b  completed"));
}

TEST(BatchScreen, PrintsEachBestOnceWithoutATerminal) {
  const std::vector<BatchRow> rows(1);
  const std::string text = Shown(kFile, [&](BatchScreen& screen) {
    BatchTotals totals{1, std::nullopt, ""};
    for (const char* best : {"", "score 1, number 0: x=1", "score 1, number 0: x=1", "score 2, number 3: x=2"}) {
      totals.best = best;
      screen.Update(rows, totals);
    }
  });
  const std::regex said("best so far: score ([12])");
  EXPECT_EQ(2, std::distance(std::sregex_iterator(text.begin(), text.end(), said), std::sregex_iterator())) << text;
}

TEST(BatchScreen, IsDueFiveTimesASecond) {
  BatchScreen screen(stderr, kFile);
  EXPECT_TRUE(screen.Due(0));
  Shown(kFile, [](BatchScreen& other) {
    other.Update({}, {10, std::nullopt, ""});
    EXPECT_FALSE(other.Due(10.1));
    EXPECT_TRUE(other.Due(10.25));
  });
}

}  // namespace
}  // namespace backplane
