// Wrappers for fields that are read or written differently from the rules in record/fields.hpp: visit("name", NullIfAbsent(x)).
#pragma once

namespace backplane {

// An optional whose key is always written: null without a value.
template <class T>
struct NullIfAbsent {
  explicit constexpr NullIfAbsent(T& optional) : value(optional) {}
  T& value;
};
// An optional number whose null means NaN, not absence.
template <class T>
struct NaNIfNull {
  explicit constexpr NaNIfNull(T& optional) : value(optional) {}
  T& value;
};
// An optional that is absent if the value does not fit, for fields that another version may write differently.
template <class T>
struct AbsentIfMisfit {
  explicit constexpr AbsentIfMisfit(T& optional) : value(optional) {}
  T& value;
};
// Always written; keeps the struct's default if it is missing or null.
template <class T>
struct DefaultIfMissing {
  explicit constexpr DefaultIfMissing(T& field) : value(field) {}
  T& value;
};
// The same, but left out while it equals T{}.
template <class T>
struct LeftOutIfEmpty {
  explicit constexpr LeftOutIfEmpty(T& field) : value(field) {}
  T& value;
};

}  // namespace backplane
