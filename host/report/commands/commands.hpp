// The commands of backplane-report, each a function of its request (record/report_requests.hpp, report_check.hpp,
// batch_measures.hpp, compare_answer.hpp), with its answer on stdout. They return the exit code and throw std::exception.
#pragma once

#include <nlohmann/json.hpp>

namespace backplane {

int MakeCommand(const nlohmann::json& request);
int CheckCommand(const nlohmann::json& request);
int TableCommand(const nlohmann::json& request);
int MeasuresCommand(const nlohmann::json& request);
int JudgeCommand(const nlohmann::json& request);
int ExplainCommand(const nlohmann::json& request);
int FilmCommand(const nlohmann::json& request);

}  // namespace backplane
