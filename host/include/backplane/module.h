// The export of a plugin file, a symbol bp_module_v1 that returns its module, and the descriptions of its plugins.
#ifndef BACKPLANE_MODULE_H_
#define BACKPLANE_MODULE_H_

#include "backplane/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BP_PARAM_F64 = 1,
  BP_PARAM_I64,
  BP_PARAM_BOOL,
  BP_PARAM_STR,
  BP_PARAM_ENUM,
  BP_PARAM_PATH,
  BP_PARAM_F64_LIST,
  BP_PARAM_I64_LIST,
  BP_PARAM_ANY  // a mapping or a list of any form, returned by `str` as JSON text
};
enum {
  BP_PARAM_REQUIRED = 1,  // must be given; `def` is NULL
  BP_PARAM_DATA = 2,      // a PATH, or an ANY of range "paths", whose content belongs to the trial's identity
  BP_PARAM_LATER = 4,     // added after results of the plugin existed: with its default it is not part of a point's identity
  // With DATA, the type of file that a PATH names. The host finds the files that such a file uses; their content belongs to the
  // identity, too.
  BP_PARAM_XML = 8,     // an XML file: the files in its attributes `file...`, recursively
  BP_PARAM_PYTHON = 16  // a Python file: all `*.py` below its folder, unless an option with DATA and range "paths" lists files
};

// One option, declared once: parsing, defaults, help, schema and docs come from here.
typedef struct bp_param {
  uint32_t struct_size;
  uint16_t type, flags;  // BP_PARAM_*
  const char* path;      // key under `options`, e.g. "lr"
  const char* def;       // default as YAML text; NULL: none
  const char* range;     // "(0,1]", "[1,)", "a|b" for ENUM, "mapping", "list" or "paths" (a list of paths) for ANY; NULL: any
  const char* unit;      // NULL: none
  const char* doc;       // one line: the effect and its cost
  const char* aliases;   // other names, comma-separated; a name with a dot is a host path; NULL: none
  // Findings (`backplane report --explain ID`) that this option helps with, comma-separated, each with a direction: '-' lower
  // it, '+' raise it, neither: enable it. "update_bound-,ram_near_limit-". A report proposes half or double the value, within
  // `range` and for integers never 0 instead of 1; or true. NULL: none.
  const char* helps;
  // Learners: values that make the learner read its budget (bp_limits: progress, iterations, epochs, env_steps_left,
  // deadline_ns), as `range` writes them: "linear|cosine", "(0,1)", "true"; "*": every value. With such a value, a different
  // budget makes a different trial; with any other, a larger one extends the trial. NULL: no value.
  const char* reads_budget;
} bp_param;

enum {
  BP_FLAG_ROWS_CONCURRENT = 1,    // range calls may run concurrently on disjoint ranges of one instance
  BP_FLAG_ROW_EXACT = 2,          // learners: a row's result is bitwise independent of the other rows in the call
  BP_FLAG_SINGLETON = 4,          // one instance per process
  BP_FLAG_OWNS_TIME_LIMIT = 8,    // envs: writes TRUNCATED itself
  BP_FLAG_NATIVE_AUTORESET = 16,  // envs: resets itself, writes dense FINAL_OBS
  // envs: a step is cheap compared with the call, so that calls of a few hundred rows are faster than calls of 16. The host
  // uses such calls for a learner that is ROW_EXACT, unless the experiment sets the rows per call.
  BP_FLAG_MANY_ROWS = 32
};

typedef struct bp_descriptor {
  uint32_t struct_size, kind;  // BP_KIND_*
  const char* id;              // "env.name"
  const char* version;         // of the plugin, "1.0.0"
  const char* summary;         // one sentence
  const char* license;         // SPDX
  uint64_t flags;              // BP_FLAG_*
  const char* const* needs;    // ids of required host extensions, NULL-terminated; NULL: none
  const bp_param* params;      // [n_params]; NULL: none
  uint64_t n_params;
  // Further names for experiment files, comma-separated, such as the name of the same task or method elsewhere: "CartPole-v1".
  // NULL: none. Plugins of one kind should not share a name.
  const char* aliases;
  uint64_t rows;  // envs: rows of a trial whose experiment sets none, the same on every machine; 0: 1
} bp_descriptor;

typedef struct bp_module {
  uint32_t struct_size, abi_minor, min_minor, reserved;
  const char* meta;   // the reserved section .bp.meta (BP_META_BYTES bytes), written by `backplane plugin seal`
  const char* build;  // facts of the build, JSON (BP_BUILD_JSON)
  // Called after loading; later calls must be harmless. `plugin_path` is the file's absolute path. NULL: nothing to do.
  // [control]
  bp_status (*init)(const char* plugin_path);
  void (*deinit)(void);                                // NULL: nothing to do. [control]
  uint32_t (*count)(void);                             // plugins in this file. [any]
  const bp_descriptor* (*descriptor)(uint32_t index);  // static. [any]
  // The function table for the plugin's kind (bp_env_api, bp_learner_api, bp_monitor_api), static; NULL: no such id. [any]
  const void* (*api)(const char* plugin_id);
} bp_module;

#define BP_EXPORT __attribute__((visibility("default")))
BP_EXPORT const bp_module* bp_module_v1(void);

#define BP_META_BYTES 65536
#define BP_META_SECTION ".bp.meta"

// Reserves the metadata section. Use it at file scope in exactly one translation unit of a plugin; set bp_module.meta to
// bp_meta_section. Rationale: `const` data could be optimised away; `used, retain` and the reference keep the section, also
// with --gc-sections.
#define BP_META_RESERVE() \
  __attribute__((section(BP_META_SECTION), used, retain, aligned(64))) static const char bp_meta_section[BP_META_BYTES] = {1}

// Facts of the build that determine whether a plugin can be loaded into a process. backplane_add_plugin defines the BP_BUILD_*
// macros; the others come from the compiler.
#define BP_STR_(x) #x
#define BP_STR(x) BP_STR_(x)
#ifndef BP_BUILD_TORCH
#define BP_BUILD_TORCH ""
#endif
#ifndef BP_BUILD_MUJOCO
#define BP_BUILD_MUJOCO ""
#endif
#ifndef BP_BUILD_SANITIZER
#define BP_BUILD_SANITIZER ""
#endif
#ifdef _GLIBCXX_USE_CXX11_ABI
#define BP_BUILD_CXX11ABI BP_STR(_GLIBCXX_USE_CXX11_ABI)
#else
#define BP_BUILD_CXX11ABI "null"
#endif
#ifdef NDEBUG
#define BP_BUILD_DEBUG "false"
#else
#define BP_BUILD_DEBUG "true"
#endif
#define BP_BUILD_JSON                                                                                \
  "{\"compiler\":\"" __VERSION__ "\",\"cxx11abi\":" BP_BUILD_CXX11ABI ",\"torch\":\"" BP_BUILD_TORCH \
  "\",\"mujoco\":\"" BP_BUILD_MUJOCO "\",\"sanitizer\":\"" BP_BUILD_SANITIZER "\",\"debug\":" BP_BUILD_DEBUG "}"

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_MODULE_H_
