"""Writes a policy as policy.h and policy.c: C99 without a library."""
import math

HEADER = """/* %(about)s
   policy.md explains the numbers. */
#ifndef POLICY_H_
#define POLICY_H_

#ifdef __cplusplus
extern "C" {
#endif

#define POLICY_OBS %(obs)d      /* numbers of an observation */
#define POLICY_ACTIONS %(actions)d  /* %(meaning)s */%(memory)s

%(doc)s
%(prototype)s;

#ifdef __cplusplus
}
#endif
#endif /* POLICY_H_ */
"""
DOC = "/* Needs %d bytes of stack, and neither allocates nor keeps anything, so several threads may call it."
STATE = "\n   Reads and writes state; set it to zeros when an episode starts."
DISCRETE = ("int policy_act(const float obs[POLICY_OBS], %sconst unsigned char *mask)",
            "   Returns the best choice, from 0. mask [POLICY_ACTIONS]: 0 forbids a choice; NULL allows all. */", "choices")
CONTINUOUS = ("void policy_act(const float obs[POLICY_OBS], %sfloat action[POLICY_ACTIONS])",
              "   Writes the action, within its bounds. */", "numbers of an action")

BODY = """/* %(about)s C99, without a library. */
#include "policy.h"

%(tables)s
static void layer(const float *x, int in, const float *weight, const float *bias, int out, float *y) {
  int i, j;
  for (j = 0; j < out; ++j) y[j] = bias[j];
  for (i = 0; i < in; ++i, weight += out) {
    const float factor = x[i];
    for (j = 0; j < out; ++j) y[j] += factor * weight[j];
  }
}

%(functions)s%(prototype)s {
  float %(buffers)s;
  int i;%(more)s
%(statements)s
}
"""
TANH = """/* The rational approximation that the training used (Eigen's, within a few units in the last place). */
static float tanh_of(float x) {
  float s, p, q;
  x = x > 7.90531110763549805f ? 7.90531110763549805f : x < -7.90531110763549805f ? -7.90531110763549805f : x;
  s = x * x;
  p = s * -2.76076847742355e-16f + 2.00018790482477e-13f;
  p = p * s - 8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  q = s * 1.19825839466702e-06f + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  return x * p / q;
}

"""
GRU = """/* A gated recurrent unit: gates r, z and n of `size` numbers each in `gates`, and the state's sums of n in `sums`. */
static void remember(int size, const float *sums, float *gates, float *state) {
  int i;
  for (i = 0; i < size; ++i) {
    const float r = tanh_of((gates[i] + sums[i]) * 0.5f) * 0.5f + 0.5f;
    const float z = tanh_of((gates[size + i] + sums[size + i]) * 0.5f) * 0.5f + 0.5f;
    const float n = tanh_of(gates[2 * size + i] + r * sums[2 * size + i]);
    state[i] = n + z * (state[i] - n);
  }
}

"""
DRIVER = """#include <stdio.h>
#include "policy.h"
int main(void) {
  float obs[POLICY_OBS];
  unsigned char mask[POLICY_ACTIONS];
#ifdef POLICY_STATE
  float state[POLICY_STATE];
#define STATE state,
#else
#define STATE
#endif
  while (fread(obs, sizeof obs, 1, stdin) == 1 && fread(mask, sizeof mask, 1, stdin) == 1) {
#ifdef POLICY_STATE
    if (fread(state, sizeof state, 1, stdin) != 1) return 1;
#endif
#ifdef POLICY_DISCRETE
    const int action = policy_act(obs, STATE mask);
#else
    float action[POLICY_ACTIONS];
    policy_act(obs, STATE action);
#endif
    fwrite(&action, sizeof action, 1, stdout);
#ifdef POLICY_STATE
    fwrite(state, sizeof state, 1, stdout);
#endif
  }
  return 0;
}
"""


def literal(value, suffix="f"):
    text = f"{value:.9g}" if suffix else f"{value:.17g}"
    return text + ("" if "." in text or "e" in text else ".0") + suffix


def table(name, values, kind="float"):
    texts = [literal(value, "f" if kind == "float" else "") for value in values]
    rows = ["  " + ", ".join(texts[i : i + 8]) for i in range(0, len(texts), 8)]
    return f"static const {kind} {name}[{len(values)}] = {{\n" + ",\n".join(rows) + "};\n"


def c_files(policy, about):
    n, layers = policy.normalizer, policy.layers
    tables, statements = [], []
    if n:
        tables += [table("mean", n["mean"], "double"), table("scale", n["scale"], "double")]
        statements.append("  for (i = 0; i < POLICY_OBS; ++i) {\n    double x = (obs[i] - mean[i]) * scale[i];")
        if math.isfinite(n["clip"]):
            c = literal(n["clip"], "")
            statements.append(f"    x = x > {c} ? {c} : x < -{c} ? -{c} : x;")
        statements.append("    a[i] = (float)x;\n  }")
    source, target = ("a" if n else "obs"), "b"
    memory = policy.memory
    if memory:
        for name in ("input", "hidden"):
            tables += [table(f"{name}_weight", memory[name]["weight"]), table(f"{name}_bias", memory[name]["bias"])]
        size = memory["size"]
        statements += [f"  layer({source}, POLICY_OBS, input_weight, input_bias, {3 * size}, gates);",
                       f"  layer(state, {size}, hidden_weight, hidden_bias, {3 * size}, sums);", f"  remember({size}, sums, gates, state);"]
        source = "state"
    for i, one in enumerate(layers):
        tables += [table(f"weight{i}", one["weight"]), table(f"bias{i}", one["bias"])]
        statements.append(f"  layer({source}, {one['in']}, weight{i}, bias{i}, {one['out']}, {target});")
        if i + 1 < len(layers):
            x = f"{target}[i]"
            function = f"tanh_of({x})" if policy.activation == "tanh" else f"{x} > 0.0f ? {x} : 0.0f"
            statements.append(f"  for (i = 0; i < {one['out']}; ++i) {x} = {function};")
        source, target = target, "a" if target == "b" else "b"
    if policy.discrete:
        statements.append("  for (i = 0; i < POLICY_ACTIONS; ++i)\n"
                          f"    if ((!mask || mask[i]) && (best < 0 || {source}[i] > {source}[best])) best = i;\n"
                          "  return best < 0 ? 0 : best;")
    else:
        big = 3.4028234663852886e38
        tables += [table(name, [max(-big, min(big, x)) for x in values]) for name, values in (("low", policy.low), ("high", policy.high))]
        x = f"{source}[i]"
        statements.append("  for (i = 0; i < POLICY_ACTIONS; ++i) {\n    float x = " + x + ";")
        if policy.head["squash"]:
            statements.append("    x = low[i] + (tanh_of(x) + 1.0f) / 2.0f * (high[i] - low[i]);")
        statements.append("    action[i] = x < low[i] ? low[i] : x > high[i] ? high[i] : x;\n  }")
    widest = max([one["out"] for one in layers] + ([policy.obs] if n else []))
    used = [name for name in "ab" if len(layers) > 1 or name == "b" or n]
    buffers = ", ".join([f"{name}[{widest}]" for name in used] + ([f"gates[{3 * size}], sums[{3 * size}]"] if memory else []))
    prototype, doc, meaning = DISCRETE if policy.discrete else CONTINUOUS
    prototype %= "float state[POLICY_STATE], " if memory else ""
    tanh = memory or policy.head.get("squash") or (policy.activation == "tanh" and len(layers) > 1)
    header = HEADER % {"about": about, "obs": policy.obs, "actions": policy.outputs, "meaning": meaning, "prototype": prototype,
                       "memory": f"\n#define POLICY_STATE {memory['size']}  /* numbers of the policy's memory */" if memory else "",
                       "doc": DOC % (4 * (widest * len(used) + (6 * size if memory else 0))) + (STATE if memory else "") + "\n" + doc}
    body = BODY % {"about": about, "tables": "\n".join(tables), "functions": (TANH if tanh else "") + (GRU if memory else ""), "prototype": prototype, "buffers": buffers,
                   "more": "\n  int best = -1;" if policy.discrete else "", "statements": "\n".join(statements)}
    return header, body
