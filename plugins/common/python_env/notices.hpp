// Events that the env processes report: warnings of the trial, once per kind.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "backplane/host.h"

namespace backplane::python_env {

class Notices {
 public:
  explicit Notices(const bp_host* host) : host_(host) {}

  // `reply`: JSON [[kind, row or -1, sentence], ...]. False: it is something else.
  bool Log(std::string_view reply) {
    const nlohmann::json notices = nlohmann::json::parse(reply, nullptr, /*allow_exceptions=*/false);
    if (!notices.is_array()) return false;
    for (const nlohmann::json& notice : notices) {
      if (!kinds_.insert(notice.at(0).get<std::string>()).second) continue;
      const int64_t row = notice.at(1);
      const std::string place = row < 0 ? "" : "row " + std::to_string(row) + ": ";
      host_->log(host_, BP_LOG_WARN, (place + notice.at(2).get<std::string>()).c_str());
    }
    return true;
  }

 private:
  const bp_host* host_;
  std::set<std::string> kinds_;  // that were reported
};

}  // namespace backplane::python_env
