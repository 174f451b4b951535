#include "store/database.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "support/batch_fixture.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Lines = std::vector<std::string>;

class DatabaseTest : public BatchFixture {
 protected:
  Database Open() {
    return Database(folder_.out, PlanLines(), Record(), [this](const std::string& text) { warnings_.push_back(text); });
  }
  // Each row as "a|b|c", NULL as "-", read with plain SQLite.
  Lines Ask(const std::string& query) { return AskFile(folder_.database(), query); }
  Lines AskFile(const std::filesystem::path& file, const std::string& query) {
    sqlite3* connection = nullptr;
    EXPECT_EQ(SQLITE_OK, sqlite3_open(file.c_str(), &connection));
    Lines rows;
    const auto add = +[](void* out, int n, char** values, char**) {
      std::string row;
      for (int i = 0; i < n; ++i) {
        row += (i == 0 ? "" : "|") + std::string(values[i] != nullptr ? values[i] : "-");
      }
      static_cast<Lines*>(out)->push_back(row);
      return 0;
    };
    EXPECT_EQ(SQLITE_OK, sqlite3_exec(connection, query.c_str(), add, &rows, nullptr)) << sqlite3_errmsg(connection);
    sqlite3_close(connection);
    return rows;
  }
  Lines Everything() {
    Lines all;
    for (const char* query : {"SELECT * FROM trials ORDER BY id", "SELECT * FROM trial_values ORDER BY 1, 2",
                              "SELECT * FROM results ORDER BY 1, 2", "SELECT * FROM iterations ORDER BY 1, 2, 3, 4",
                              "SELECT * FROM attempts ORDER BY 1, 2", "SELECT * FROM meta ORDER BY 1"}) {
      const Lines rows = Ask(query);
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }

  Lines warnings_;
};

TEST_F(DatabaseTest, HoldsValuesOfTheFiles) {
  RunAll();
  Open();
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_THAT(
      Ask("SELECT id, planned, point_id, name, seed, state, outcome, attempts, wall_s, sps, env_steps FROM trials ORDER BY id"),
      ElementsAre("t0|1|p0|small|7|COMPLETED|ok|2|3.0|1000.5|512.0", "t1|0|p1|a \"big\", one|7|FAILED|nan|1|1.5|-|-"));
  EXPECT_THAT(Ask("SELECT path, value, typeof(value) FROM trial_values WHERE trial_id = 't0' ORDER BY path"),
              ElementsAre("learner.options.lr|0.5|real", "rollout.num_env_runners|2|integer"));
  EXPECT_THAT(Ask("SELECT name, mean, sd, se, n FROM results WHERE trial_id = 't0' ORDER BY name"),
              ElementsAre("ep/length|-|-|-|4", "ep/never|-|-|-|0", "eval/length|5.0|0.0|0.0|2", "eval/return|9.0|-|-|1",
                          "return|3.5|1.0|0.5|4"));
  EXPECT_THAT(Ask("SELECT attempt, iteration, name, value FROM iterations WHERE trial_id = 't0' ORDER BY 2, 3"),
              ElementsAre("2|1|env_steps|256.0", "2|1|episodes|0.0", "2|1|m|2.0", "2|1|t|0.5", "2|1|train/loss|-",
                          "2|2|env_steps|512.0", "2|2|ep/length|7.0", "2|2|episodes|3.0", "2|2|eval/length|6.0",
                          "2|2|eval/return|8.0", "2|2|return|3.5", "2|2|train/loss|0.25"));
  EXPECT_THAT(Ask("SELECT trial_id, number, outcome, wall_s FROM attempts ORDER BY 1, 2"),
              ElementsAre("t0|1|signal|1.5", "t0|2|ok|1.5", "t1|1|nan|1.5"));
  EXPECT_THAT(Ask("PRAGMA journal_mode"), ElementsAre("wal"));
}

TEST_F(DatabaseTest, UpdatesGiveTheSameTablesAsARebuild) {
  {
    EventLog log(folder_.events());
    Database database = Open();
    Put("t0", 1, "torn {");
    Run(log, "t0", 1, "signal", "PLANNED");
    database.Update(log.record());
    Put("t0", 2, kResult, kMetrics);
    Run(log, "t0", 2, "ok", "COMPLETED");
    database.Update(log.record());
  }
  const Lines step_by_step = Everything();
  EXPECT_EQ(2u + 4 + 5 + 12 + 2 + 2, step_by_step.size());
  RebuildDatabase(folder_.out, PlanLines(), Record());
  EXPECT_EQ(step_by_step, Everything());
}

TEST_F(DatabaseTest, CatchesUpWithTheEvents) {
  Open();
  RunAll();
  Open();
  const Lines caught_up = Everything();
  RebuildDatabase(folder_.out, PlanLines(), Record());
  EXPECT_EQ(caught_up, Everything());
  EXPECT_THAT(warnings_, IsEmpty());
}

// Two trials end together. The supervisor is killed between their two events, between their updates, or before both.
TEST_F(DatabaseTest, UpdateIncludesAllTrialsThatEndedMeanwhile) {
  const Lines states = {"t0|COMPLETED|2.0", "t1|FAILED|-"};
  const char* const kStates = "SELECT id, state, iterations FROM trials ORDER BY id";
  for (const bool updated_once : {false, true}) {
    std::filesystem::remove(folder_.events());
    std::filesystem::remove(folder_.database());
    {
      EventLog log(folder_.events());
      Database database = Open();
      Put("t0", 1, kResult, kMetrics);
      Run(log, "t0", 1, "ok", "COMPLETED");
      Run(log, "t1", 1, "nan", "FAILED");
      if (updated_once) database.Update(log.record());
    }
    if (updated_once) {
      EXPECT_EQ(states, Ask(kStates)) << "its last_seq covers both";
    }
    Open();
    EXPECT_EQ(states, Ask(kStates));
  }
}

TEST_F(DatabaseTest, RebuildsTablesThatLackReadEvents) {
  RunAll();
  Open();
  const Lines good = Everything();
  // Schema 1 left this state: last_seq came from the update of a different trial.
  Ask("UPDATE meta SET value = '1' WHERE key = 'schema'; UPDATE trials SET state = 'PLANNED' WHERE id = 't0';"
      "DELETE FROM results WHERE trial_id = 't0'");
  Open();
  EXPECT_EQ(good, Everything());
}

TEST_F(DatabaseTest, TrialsThatLeftThePlanStay) {
  RunAll();
  Open();
  plan_.trials.pop_back();
  WritePlanFile(folder_.plan(), backplane::PlanLines(plan_));
  Open();
  EXPECT_THAT(Ask("SELECT id, planned, state FROM trials ORDER BY id"), ElementsAre("t0|-|COMPLETED", "t1|0|FAILED"));
  EXPECT_THAT(Ask("SELECT count(*) FROM trial_values WHERE trial_id = 't0'"), ElementsAre("2"));
}

TEST_F(DatabaseTest, ReplacesABrokenFileAndOneOfOtherEvents) {
  RunAll();
  Open();
  const Lines good = Everything();
  std::ofstream(folder_.database()) << "this is no database, but it is long enough to be looked at by SQLite "
                                    << std::string(4096, 'x');
  Open();
  EXPECT_EQ(good, Everything());
  Ask("UPDATE meta SET value = '999' WHERE key = 'last_seq'");
  Open();
  EXPECT_EQ(good, Everything());
  Ask("UPDATE meta SET value = 'older' WHERE key = 'schema'");
  Open();
  EXPECT_EQ(good, Everything());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(DatabaseTest, FileThatCannotBeOpenedIsOneWarning) {
  std::filesystem::create_directories(folder_.database() / "a folder in its place");
  RunAll();
  Database database = Open();
  database.Update(Record());
  ASSERT_EQ(1u, warnings_.size());
  EXPECT_THAT(warnings_[0], HasSubstr("backplane store rebuild"));
}

TEST_F(DatabaseTest, LockedFileIsOneWarningAndStays) {
  RunAll();
  Open();
  sqlite3* other = nullptr;
  ASSERT_EQ(SQLITE_OK, sqlite3_open(folder_.database().c_str(), &other));
  ASSERT_EQ(SQLITE_OK, sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr));
  Database database = Open();
  database.Update(Record());
  EXPECT_EQ(1u, warnings_.size());
  sqlite3_close(other);
  EXPECT_THAT(Ask("SELECT count(*) FROM trials"), ElementsAre("2"));
}

TEST_F(DatabaseTest, CopyOfARunningBatchIsOneReadableFile) {
  RunAll();
  const Database writer = Open();
  ASSERT_TRUE(std::filesystem::exists(folder_.database().string() + "-wal")) << "it includes the last update";
  const std::filesystem::path copy = folder_.out / "elsewhere" / "copy.sqlite";
  std::filesystem::create_directories(copy.parent_path());
  std::ofstream(copy) << "an older one";
  CopyDatabase(folder_.out, copy);
  std::filesystem::permissions(copy.parent_path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_THAT(AskFile(copy, "SELECT id, state FROM trials ORDER BY id"), ElementsAre("t0|COMPLETED", "t1|FAILED"));
  EXPECT_THAT(AskFile(copy, "PRAGMA journal_mode"), ElementsAre("delete")) << "a WAL file needs two more files";
  std::filesystem::permissions(copy.parent_path(), std::filesystem::perms::owner_all);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(copy.parent_path()), {}), 1);
}

TEST_F(DatabaseTest, CopyOfAMissingFileNamesRebuild) {
  try {
    CopyDatabase(folder_.out, folder_.out / "copy.sqlite");
    FAIL() << "copied";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("backplane store rebuild"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.database())) << "checking must not create it";
}

}  // namespace
}  // namespace backplane
