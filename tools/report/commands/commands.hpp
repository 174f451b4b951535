// The commands of backplane-report, each a function of its request (record/report_requests.hpp, report_check.hpp,
// batch_measures.hpp, compare_answer.hpp, gate_answer.hpp), with its answer on stdout. They return the exit code and throw
// std::exception.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace backplane {

int MakeCommand(const nlohmann::json& request);
int CheckCommand(const nlohmann::json& request);
int TableCommand(const nlohmann::json& request);
int MeasuresCommand(const nlohmann::json& request);
int JudgeCommand(const nlohmann::json& request);
int GateCommand(const nlohmann::json& request);
int ExplainCommand(const nlohmann::json& request);
int ExportCommand(const nlohmann::json& request);
int FilmCommand(const nlohmann::json& request);
// Reads no request and never returns; the starting program ends it. `program`: the command name as typed by the user.
[[noreturn]] int LiveCommand(const std::filesystem::path& out, const std::string& program);

}  // namespace backplane
