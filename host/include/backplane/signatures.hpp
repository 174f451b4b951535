// Checks signatures: a member with a known name and a different signature is a compile error, not a silently missing feature.
// Part of plugin.hpp, which authors include.
#pragma once

#include <type_traits>

// A class with any member of that name, including private ones and templates: if a base has one as well, it is ambiguous.
#define BP_NAMED(name)                                      \
  struct Has_##name {                                       \
    int name;                                               \
  };                                                        \
  template <class T>                                        \
  struct BesideHas_##name : T, Has_##name {};               \
  template <class T>                                        \
  concept Names_##name = !std::is_final_v<T> && !requires { \
    &BesideHas_##name<T>::name;                             \
  };

namespace bp::detail {
BP_NAMED(Save)
BP_NAMED(Load)
BP_NAMED(SavePolicy)
BP_NAMED(LoadPolicy)
BP_NAMED(PolicyForm)
}  // namespace bp::detail
