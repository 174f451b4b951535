#include "store/database_tables.hpp"

#include "base/json_text.hpp"
#include "record/measurements.hpp"

namespace backplane {
namespace {

// 2: no column changed, but of schema 1 there are files that lack the end of a trial and say they have read it.
constexpr char kSchema[] = "2";

constexpr char kTables[] = R"(
CREATE TABLE trials (
  id TEXT PRIMARY KEY, planned INTEGER, point_id TEXT, name TEXT, seed,
  state TEXT NOT NULL DEFAULT 'PLANNED', outcome TEXT NOT NULL DEFAULT '', why TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0, wall_s REAL, sps REAL, sampling_sps REAL, iterations REAL, env_steps REAL, episodes REAL);
CREATE TABLE trial_values (trial_id TEXT NOT NULL, path TEXT NOT NULL, value, PRIMARY KEY (trial_id, path)) WITHOUT ROWID;
CREATE TABLE results (
  trial_id TEXT NOT NULL, name TEXT NOT NULL, mean REAL, sd REAL, se REAL, n INTEGER, PRIMARY KEY (trial_id, name)) WITHOUT ROWID;
CREATE TABLE iterations (
  trial_id TEXT NOT NULL, attempt INTEGER NOT NULL, iteration INTEGER NOT NULL, name TEXT NOT NULL, value REAL);
CREATE INDEX iterations_by_trial ON iterations (trial_id, attempt);
CREATE TABLE attempts (
  trial_id TEXT NOT NULL, number INTEGER NOT NULL, started REAL, ended REAL, outcome TEXT, why TEXT, wall_s REAL,
  peak_rss_bytes REAL, PRIMARY KEY (trial_id, number)) WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
)";

// Of all attempts that ended: what the trial cost.
std::optional<double> WallSeconds(const TrialRecord& trial) {
  std::optional<double> sum;
  for (const AttemptRecord& attempt : trial.attempts) {
    if (attempt.end.wall_s) sum = sum.value_or(0) + *attempt.end.wall_s;
  }
  return sum;
}

void PutValue(SqliteStatement& insert, const std::string& trial_id, const std::string& path, const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    insert.Run(trial_id, path, value.get<uint64_t>());
  } else if (value.is_number_integer()) {
    insert.Run(trial_id, path, value.get<int64_t>());
  } else if (value.is_number()) {
    insert.Run(trial_id, path, value.get<double>());
  } else {
    insert.Run(trial_id, path, value.is_string() ? value.get<std::string>() : JsonText(value));
  }
}

}  // namespace

DatabaseTables::DatabaseTables(const std::filesystem::path& file, const ResultsFolder& folder)
    : folder_(folder), connection_(file) {
  connection_.Execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
}

bool DatabaseTables::OfThisSchema() {
  if (!SqliteStatement(connection_, "SELECT 1 FROM sqlite_master WHERE name = 'meta'").Ask()) {
    return false;
  }
  return SqliteStatement(connection_, "SELECT value FROM meta WHERE key = 'schema'").Ask() == kSchema;
}

uint64_t DatabaseTables::LastSeq() {
  const auto text = SqliteStatement(connection_, "SELECT value FROM meta WHERE key = 'last_seq'").Ask();
  return text ? std::stoull(*text) : 0;
}

void DatabaseTables::Make() {
  SqliteTransaction transaction(connection_);
  connection_.Execute(kTables);
  SqliteStatement(connection_, "INSERT INTO meta VALUES ('schema', ?), ('last_seq', '0')").Run(std::string(kSchema));
  transaction.Commit();
}

void DatabaseTables::CatchUp(const std::vector<PlanLine>& plan, const BatchRecord& record) {
  SqliteTransaction transaction(connection_);
  PutPlan(plan);
  PutEvents(record);
  transaction.Commit();
}

void DatabaseTables::Update(const BatchRecord& record) {
  SqliteTransaction transaction(connection_);
  PutEvents(record);
  transaction.Commit();
}

// Every trial with an event that is not in yet, whichever the update is about: "last_seq" speaks for all of them.
void DatabaseTables::PutEvents(const BatchRecord& record) {
  const uint64_t seen = LastSeq();
  for (const auto& [id, trial] : record.trials) {
    if (trial.last_seq > seen) {
      PutTrial(trial);
    }
  }
  PutLastSeq(record.last_seq);
}

void DatabaseTables::PutPlan(const std::vector<PlanLine>& plan) {
  connection_.Execute("UPDATE trials SET planned = NULL");
  SqliteStatement trial(
      connection_,
      "INSERT INTO trials (id, planned, point_id, name, seed) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE "
      "SET planned = excluded.planned, point_id = excluded.point_id, name = excluded.name, seed = excluded.seed");
  SqliteStatement forget(connection_, "DELETE FROM trial_values WHERE trial_id = ?");
  SqliteStatement value(connection_, "INSERT INTO trial_values VALUES (?, ?, ?)");
  uint64_t place = 0;
  for (const PlanLine& line : plan) {
    if (line.dropped) {
      continue;
    }
    trial.Run(line.trial_id, place++, line.point_id, line.name, line.seed);
    forget.Run(line.trial_id);
    for (const auto& [path, swept] : line.values) {
      PutValue(value, line.trial_id, path, swept);
    }
  }
}

void DatabaseTables::PutTrial(const TrialRecord& trial) {
  for (const char* text : {"DELETE FROM results WHERE trial_id = ?", "DELETE FROM iterations WHERE trial_id = ?",
                           "DELETE FROM attempts WHERE trial_id = ?", "INSERT OR IGNORE INTO trials (id) VALUES (?)"}) {
    SqliteStatement(connection_, text).Run(trial.id);
  }
  for (const AttemptRecord& attempt : trial.attempts) {
    PutAttempt(trial, attempt);
  }
  const unsigned last = trial.attempts.empty() ? 0 : trial.attempts.back().number;
  const Measurements found = last > 0 ? ReadMeasurements(folder_.attempt(trial.id, last)) : Measurements{};
  SqliteStatement(connection_,
                  "UPDATE trials SET state = ?, outcome = ?, why = ?, attempts = ?, wall_s = ?, sps = ?, sampling_sps = ?, "
                  "iterations = ?, env_steps = ?, episodes = ? WHERE id = ?")
      .Run(std::string(Word(trial.state)), std::string(Word(trial.outcome)), trial.why,
           static_cast<uint64_t>(trial.attempts.size()), WallSeconds(trial), found.result.sps, found.result.sampling_sps,
           found.result.iterations, found.result.env_steps, found.result.episodes, trial.id);
  SqliteStatement insert(connection_, "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)");
  for (const auto& [name, spread] : found.statistics) {
    insert.Run(trial.id, name, spread.mean, spread.sd, spread.se, spread.n);
  }
  const std::optional<double> none;
  for (const auto& [name, value] : found.time) {
    insert.Run(trial.id, name, std::optional(value), none, none, none);
  }
}

void DatabaseTables::PutAttempt(const TrialRecord& trial, const AttemptRecord& attempt) {
  SqliteStatement(connection_, "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .Run(trial.id, attempt.number, attempt.started, attempt.ended, std::string(Word(attempt.end.outcome)), attempt.end.why,
           attempt.end.wall_s, attempt.end.peak_rss_bytes);
  if (!attempt.ended) {
    return;  // it is still writing
  }
  SqliteStatement insert(connection_, "INSERT INTO iterations VALUES (?, ?, ?, ?, ?)");
  for (const IterationValue& one : ReadIterations(folder_.attempt(trial.id, attempt.number))) {
    insert.Run(trial.id, attempt.number, one.iteration, one.name, one.value);
  }
}

void DatabaseTables::PutLastSeq(uint64_t seq) {
  SqliteStatement(connection_, "UPDATE meta SET value = ? WHERE key = 'last_seq'").Run(std::to_string(seq));
}

}  // namespace backplane
