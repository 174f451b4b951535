// How a record writes and reads a field, where that differs from the rules in record/fields.hpp: visit("name",
// NullIfAbsent(x)).
#pragma once

namespace backplane {

// An optional whose key is always written: null without a value.
template <class T>
struct NullIfAbsent {
  explicit constexpr NullIfAbsent(T& optional) : value(optional) {}
  T& value;
};
// An optional number; null is a value of it, NaN, and not its absence.
template <class T>
struct NaNIfNull {
  explicit constexpr NaNIfNull(T& optional) : value(optional) {}
  T& value;
};
// An optional that is absent where what stands there does not fit: of a field that another version may write otherwise.
template <class T>
struct AbsentIfMisfit {
  explicit constexpr AbsentIfMisfit(T& optional) : value(optional) {}
  T& value;
};
// Always written; where it is missing or null, the struct's own value stays.
template <class T>
struct DefaultIfMissing {
  explicit constexpr DefaultIfMissing(T& field) : value(field) {}
  T& value;
};
// The same, and not written as long as it is T{}.
template <class T>
struct LeftOutIfEmpty {
  explicit constexpr LeftOutIfEmpty(T& field) : value(field) {}
  T& value;
};

}  // namespace backplane
