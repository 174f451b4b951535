#include <algorithm>

#include "base/infinity.hpp"
#include "plugin/host_services.hpp"

namespace backplane {
namespace {

const OptionView& Self(const bp_config* config) { return *static_cast<const OptionView*>(config->impl); }

// Exceptions must not enter a plugin; failed calls are reported as an unknown path.
template <class Body>
bp_status Answer(const bp_config* config, const char* path, Body&& body) noexcept {
  try {
    const nlohmann::json* value = path ? Self(config).Find(path) : nullptr;
    return value && body(*value) ? BP_OK : BP_E_INVALID_ARG;
  } catch (...) {
    return BP_E_INVALID_ARG;
  }
}

std::optional<double> NumberOf(const nlohmann::json& value) {
  if (value.is_string()) return ParseInfinity(value.get_ref<const std::string&>());
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

}  // namespace

OptionView::OptionView(nlohmann::json options, std::map<std::string, std::string> origin, std::string prefix)
    : options_(std::move(options)),
      origin_(std::move(origin)),
      prefix_(std::move(prefix)),
      text_(options_.dump()),
      config_{sizeof(bp_config), 0, this, F64, I64, Str, List, Json, Where} {
  if (!options_.is_object()) return;
  for (const nlohmann::json& value : options_)
    if (value.is_structured()) structures_[&value] = value.dump();
}

const nlohmann::json* OptionView::Find(const std::string& path) const {
  const nlohmann::json* at = &options_;
  for (size_t begin = 0; begin <= path.size();) {
    if (!at->is_object()) return nullptr;
    const size_t end = std::min(path.find('.', begin), path.size());
    // A key that contains dots takes precedence over nested keys.
    auto found = at->find(path.substr(begin));
    const bool whole = found != at->end();
    if (!whole) found = at->find(path.substr(begin, end - begin));
    if (found == at->end()) return nullptr;
    at = &*found;
    begin = whole ? path.size() + 1 : end + 1;
  }
  return at->is_null() ? nullptr : at;
}

bp_status OptionView::F64(const bp_config* config, const char* path, double* out) noexcept {
  return Answer(config, path, [out](const nlohmann::json& value) {
    const std::optional<double> number = NumberOf(value);
    if (number) *out = *number;
    return number.has_value();
  });
}

bp_status OptionView::I64(const bp_config* config, const char* path, int64_t* out) noexcept {
  return Answer(config, path, [out](const nlohmann::json& value) {
    if (value.is_boolean()) {
      *out = value.get<bool>() ? 1 : 0;
      return true;
    }
    // Beyond int64 the value would wrap to a negative one.
    const bool fits = value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
    if (fits) *out = value.get<int64_t>();
    return fits;
  });
}

bp_status OptionView::Str(const bp_config* config, const char* path, const char** borrow_out) noexcept {
  return Answer(config, path, [config, borrow_out](const nlohmann::json& value) {
    if (value.is_string()) *borrow_out = value.get_ref<const std::string&>().c_str();
    const auto structure = Self(config).structures_.find(&value);
    if (structure != Self(config).structures_.end()) *borrow_out = structure->second.c_str();
    return value.is_string() || structure != Self(config).structures_.end();
  });
}

bp_status OptionView::List(const bp_config* config, const char* path, uint64_t cap, double* out, uint64_t* out_n) noexcept {
  return Answer(config, path, [=](const nlohmann::json& value) {
    if (!value.is_array() || !std::all_of(value.begin(), value.end(), NumberOf)) return false;
    *out_n = value.size();
    for (uint64_t i = 0; i < std::min<uint64_t>(cap, value.size()); ++i) out[i] = *NumberOf(value[i]);
    return true;
  });
}

const char* OptionView::Json(const bp_config* config) noexcept { return Self(config).text_.c_str(); }

const char* OptionView::Where(const bp_config* config, const char* path) noexcept {
  try {
    const OptionView& self = Self(config);
    const auto found = self.origin_.find(self.prefix_ + "." + (path ? path : ""));
    if (found != self.origin_.end()) return found->second.c_str();
  } catch (...) {
    // Out of memory: the place is only for messages.
  }
  return "default";
}

}  // namespace backplane
