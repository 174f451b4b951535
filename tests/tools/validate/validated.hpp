// A plugin file under the cases of `plugin validate`.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "contract/value.hpp"
#include "plugin/metadata.hpp"
#include "validate/run_case.hpp"

namespace backplane::test_support {

class Validated {
 public:
  Validated(const std::string& file, const std::string& id) : infos_(ReadPlugins(file)) {
    for (const PluginInfo& info : infos_)
      if (id.empty() || info.id == id) info_ = &info;
    if (!info_) throw std::runtime_error(file + " has no " + id);
    for (const OptionInfo& option : info_->options) {
      std::string why_not;
      const ValueRule rule{static_cast<ValueType>(option.type), option.range.value_or("")};
      const auto value = option.def ? ReadDefault(*option.def, rule, &why_not) : std::nullopt;
      setting.options[option.path] = value ? *value : nlohmann::json(nullptr);
    }
  }
  void Give(const std::string& option, const nlohmann::json& value) {
    setting.options[option] = value;
    setting.given.push_back(option);
  }
  const PluginInfo& info() const { return *info_; }
  CaseResult Run(const std::string& name, double limit_s = 45) const {
    return RunCase(*FindCase(name), *info_, setting, {.in_process = false, .limit_s = limit_s});
  }
  // All cases of its kind must be PASSED or SKIPPED.
  void NeedGood() const {
    for (const Case& one : AllCases()) {
      if (!one.Is(info_->kind)) continue;
      const CaseResult result = Run(one.name);
      EXPECT_TRUE(result.verdict == CaseVerdict::kPassed || (result.verdict == CaseVerdict::kSkipped && !result.note.empty()))
          << info_->id << ": " << one.name << ": " << Word(result.verdict) << "\n  place  " << result.place << "\n  wanted "
          << result.wanted << "\n  found  " << result.found;
    }
  }
  ValidateSetting setting;

 private:
  std::vector<PluginInfo> infos_;
  const PluginInfo* info_ = nullptr;
};

}  // namespace backplane::test_support
