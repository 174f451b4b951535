// The rules that are tried before the first trial with a plugin file that was never validated. A case of `plugin validate` is
// fast if its rule is listed here.
#pragma once

#include <cstdint>

namespace backplane {

// The estimated cost of a case, to skip it if time is short. A turn: a step of one row of an env, or a call of a learner's act.
struct FastCost {
  uint32_t instances = 0, turns = 0;
};

struct FastRule {
  const char* name;
  FastCost cost;
};

// In the order of the cases. These cases affect only their own instances, and no option breaks their rules.
inline constexpr FastRule kFastRules[] = {
    {"section-is-true", {}},
    {"names-itself", {}},
    {"options-once", {}},
    {"ranges", {}},
    {"writes-every-output", {.instances = 2, .turns = 24}},
    {"stays-in-its-buffers", {.instances = 6, .turns = 480}},
    {"writes-only-its-rows", {.instances = 1, .turns = 30}},
    {"uses-strides", {.instances = 2, .turns = 72}},
    {"finite-numbers", {.instances = 1, .turns = 400}},
    {"flags-are-bits", {.instances = 1, .turns = 400}},
    {"masks-allow", {.instances = 2, .turns = 400}},
    {"alive-falls", {.instances = 1, .turns = 400}},
    {"same-seed-same-bytes", {.instances = 2, .turns = 600}},
    {"reset-forgets", {.instances = 2, .turns = 720}},
    {"instances-share-nothing", {.instances = 3, .turns = 780}},
    {"rows-are-independent", {.instances = 3, .turns = 420}},
    {"split-ranges", {.instances = 3, .turns = 900}},
    {"act-writes-its-rows", {.instances = 1, .turns = 2}},
    {"act-is-sound", {.instances = 1, .turns = 40}},
    {"act-repeats", {.instances = 1, .turns = 9}},
    {"act-reads-its-rows", {.instances = 1, .turns = 5}},
    {"row-exact", {.instances = 1, .turns = 12}},
};

}  // namespace backplane
