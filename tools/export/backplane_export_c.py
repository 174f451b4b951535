"""Writes a policy as policy.h and policy.c: C99 without a library."""
import math

HEADER = """/* %(about)s
   policy.md explains the numbers. */
#ifndef POLICY_H_
#define POLICY_H_

#ifdef __cplusplus
extern "C" {
#endif

%(sizes)s

%(doc)s
%(prototype)s;

#ifdef __cplusplus
}
#endif
#endif /* POLICY_H_ */
"""
BODY = """/* %(about)s C99, without a library. */
#include "policy.h"

%(tables)s
static void add(const float *x, int in, const float *weight, int out, float *y) {
  int i, j;
  for (i = 0; i < in; ++i, weight += out) {
    const float factor = x[i];
    for (j = 0; j < out; ++j) y[j] += factor * weight[j];
  }
}

static void layer(const float *x, int in, const float *weight, const float *bias, int out, float *y) {
  int j;
  for (j = 0; j < out; ++j) y[j] = bias[j];
  add(x, in, weight, out, y);
}

%(functions)s%(prototype)s {
%(statements)s
}
"""
RELU = """static void relu(float *x, int n) {
  int i;
  for (i = 0; i < n; ++i) x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

"""
# In a planar image, the runs of a patch are its rows in each plane.
CONVOLVE = """static void convolve(const float *x, int height, int width, int channels, int planar, int kernel, int stride, const float *weight,
                     const float *bias, int out, float *y) {
  const int planes = planar ? channels : 1, depth = planar ? 1 : channels, run = kernel * depth;
  int top, left, plane, row, j;
  for (top = 0; top + kernel <= height; top += stride)
    for (left = 0; left + kernel <= width; left += stride, y += out) {
      const float *w = weight;
      for (j = 0; j < out; ++j) y[j] = bias[j];
      for (plane = 0; plane < planes; ++plane)
        for (row = 0; row < kernel; ++row, w += run * out) add(x + ((plane * height + top + row) * width + left) * depth, run, w, out, y);
    }
}

"""
BEST = """static int best_of(const float *x, int n, const unsigned char *mask) {
  int i, best = -1;
  for (i = 0; i < n; ++i)
    if ((!mask || mask[i]) && (best < 0 || x[i] > x[best])) best = i;
  return best < 0 ? 0 : best;
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
%s
  while (%s) {
%s
  }
  return 0;
}
"""
BIG = 3.4028234663852886e38


def literal(value, suffix="f"):
    text = f"{value:.9g}" if suffix else f"{value:.17g}"
    return text + ("" if "." in text or "e" in text else ".0") + suffix


def table(name, values, kind="float"):
    texts = [literal(value, "f" if kind == "float" else "") for value in values]
    rows = ["  " + ", ".join(texts[i : i + 8]) for i in range(0, len(texts), 8)]
    return f"static const {kind} {name}[{len(values)}] = {{\n" + ",\n".join(rows) + "};\n"


def sizes(policy):
    """[(macro, numbers, meaning)]"""
    plain = None if policy.several else policy.outputs
    every = [("OBS", policy.obs, "numbers of an observation"), ("PIXELS", policy.pixel_count, "bytes of an observation's images"),
             ("STATE", policy.memory and policy.memory["size"], "numbers of the policy's memory"),
             ("ACTIONS", plain, "choices" if policy.returns_choice else "numbers of an action"),
             ("FLAGS", policy.flags if policy.several else 0, "flags of a mask, one per choice"),
             ("NUMBERS", policy.number_count if policy.several else 0, "numbers of an action"),
             ("CHOICES", policy.choice_count if policy.several else 0, "choices and bits of an action")]
    return [each for each in every if each[1]]


def arguments(policy):
    """[(name, type, macro of its size, whether the call writes it)]"""
    flags, numbers = ("FLAGS", "NUMBERS") if policy.several else ("ACTIONS", "ACTIONS")
    every = [("obs", "const float", "OBS", False, policy.obs), ("pixels", "const unsigned char", "PIXELS", False, policy.pixel_count),
             ("state", "float", "STATE", True, policy.memory), ("mask", "const unsigned char", flags, False, policy.flags),
             ("numbers" if policy.several else "action", "float", numbers, True, policy.number_count),
             ("choices", "int", "CHOICES", True, policy.choice_count and not policy.returns_choice)]
    return [each[:4] for each in every if each[4]]


def prototype(policy):
    written = [f"{kind} *{name}" if name == "mask" else f"{kind} {name}[POLICY_{size}]" for name, kind, size, _ in arguments(policy)]
    return f"{'int' if policy.returns_choice else 'void'} policy_act({', '.join(written)})"


def comment(policy, stack):
    names = [name for name, *_ in arguments(policy)]
    lines = [f"Needs {stack} bytes of stack, and neither allocates nor keeps anything, so several threads may call it."]
    lines += ["Reads and writes state; set it to zeros when an episode starts."] if policy.memory else []
    result = {"numbers": "numbers within their bounds", "choices": "choices and bits"}
    lines += ["Returns the best choice, from 0."] if policy.returns_choice else ["Writes the action, within its bounds."] if not policy.several else [
        f"Writes the action: {' and '.join(result[name] for name in names if name in result)}."]
    if policy.flags:
        lines[-1] += f" mask [POLICY_{'FLAGS' if policy.several else 'ACTIONS'}]: 0 forbids a choice; NULL allows all."
    return "/* " + "\n   ".join(lines) + " */"


class Body:
    """The tables and statements of policy_act."""

    def __init__(self, policy):
        self.policy, self.tables, self.statements, self.used, self.widest = policy, [], [], set(), 1
        self.memory = 3 * policy.memory["size"] if policy.memory else 0
        self.into = sum(image["dense"]["out"] for image in policy.images)  # of the input, the rest are numbers
        source = self.add_memory(self.add_numbers(self.add_images()))
        self.add_head(self.add_layers(source))

    def buffer(self, name, size):
        self.used.add(name)
        self.widest = max(self.widest, size)
        return name

    def add(self, line):
        self.statements.append("  " + line)

    def layer(self, name, one, source, target):
        self.tables += [table(f"{name}_weight", one["weight"]), table(f"{name}_bias", one["bias"])]
        if "kernel" in one:
            sizes = ", ".join(str(int(one[key])) for key in ("height", "width", "channels", "planar", "kernel", "stride"))
            self.add(f"convolve({source}, {sizes}, {name}_weight, {name}_bias, {one['out']}, {target});")
        else:
            self.add(f"layer({source}, {one['in']}, {name}_weight, {name}_bias, {one['out']}, {target});")

    def add_images(self):
        """Leaves the features in `input`, if there are images."""
        first = into = 0
        for k, image in enumerate(self.policy.images):
            source, target = self.buffer("a", image["pixels"]), "b"
            self.add(f"for (i = 0; i < {image['pixels']}; ++i) {source}[i] = (float)pixels[{first} + i] * (1.0f / 255.0f);")
            for i, one in enumerate(image["layers"]):
                self.layer(f"image{k}_{i}", one, source, self.buffer(target, one["result"]))
                self.add(f"relu({target}, {one['result']});")
                source, target = target, source
            self.layer(f"image{k}_dense", image["dense"], source, f"input + {into}")
            self.add(f"relu(input + {into}, {image['dense']['out']});")
            first, into = first + image["pixels"], into + image["dense"]["out"]
        return "input" if self.policy.images else None

    def add_numbers(self, input):
        """Returns the name of the net's input."""
        n, c = self.policy.normalizer, ""
        if not n and not input:
            return "obs"
        if not self.policy.obs:
            return input
        target = f"input[{self.into} + i]" if input else f"{self.buffer('a', self.policy.obs)}[i]"
        if not n:
            self.add(f"for (i = 0; i < POLICY_OBS; ++i) {target} = obs[i];")
            return input
        self.tables += [table("mean", n["mean"], "double"), table("scale", n["scale"], "double")]
        if math.isfinite(n["clip"]):
            c = literal(n["clip"], "")
            c = f"\n    x = x > {c} ? {c} : x < -{c} ? -{c} : x;"
        self.add(f"for (i = 0; i < POLICY_OBS; ++i) {{\n    double x = (obs[i] - mean[i]) * scale[i];{c}\n    {target} = (float)x;\n  }}")
        return input or "a"

    def add_memory(self, source):
        memory = self.policy.memory
        if not memory:
            return source
        self.layer("input", memory["input"], source, "gates")
        self.layer("hidden", memory["hidden"], "state", "sums")
        self.add(f"remember({memory['size']}, sums, gates, state);")
        return "state"

    def add_layers(self, source):
        for i, one in enumerate(self.policy.layers):
            target = self.buffer("a" if source == "b" else "b", one["out"])
            self.layer(f"layer{i}", one, source, target)
            if i + 1 < len(self.policy.layers):
                self.add(f"relu({target}, {one['out']});" if self.policy.activation == "relu" else
                         f"for (i = 0; i < {one['out']}; ++i) {target}[i] = tanh_of({target}[i]);")
            source = target
        return source

    def add_head(self, x):
        policy = self.policy
        if policy.number_count:
            self.tables += [table(name, [max(-BIG, min(BIG, value)) for value in values])
                            for name, values in (("low", policy.low), ("high", policy.high))]
        squash = "\n    x = low[k] + (tanh_of(x) + 1.0f) / 2.0f * (high[k] - low[k]);" if policy.squash else ""
        for part in policy.parts:
            first, at = part["first"], part["at"]
            if part["kind"] == "continuous":
                out = "numbers" if policy.several else "action"
                self.add(f"for (i = 0; i < {part['count']}; ++i) {{\n    const int k = {at} + i;\n    float x = {x}[{first} + i];{squash}\n"
                         f"    {out}[k] = x < low[k] ? low[k] : x > high[k] ? high[k] : x;\n  }}")
            elif part["kind"] == "bits":
                self.add(f"for (i = 0; i < {part['count']}; ++i) choices[{at} + i] = {x}[{first} + i] > 0.0f;")
            elif policy.returns_choice:
                self.add(f"return best_of({x}, POLICY_ACTIONS, mask);")
            else:
                flag = part["flag"]
                for k, size in enumerate(part["sizes"]):
                    self.add(f"choices[{at + k}] = best_of({x} + {first}, {size}, mask ? mask + {flag} : 0);")
                    first, flag = first + size, flag + size

    def text(self, about):
        """(policy.h, policy.c)"""
        extra = [("input", self.policy.layers[0]["in"])] * bool(self.policy.images) + [("gates", self.memory), ("sums", self.memory)] * bool(self.memory)
        buffers = [(name, self.widest) for name in sorted(self.used)] + extra
        lines = "\n".join(self.statements)
        declared = "  float " + ", ".join(f"{name}[{size}]" for name, size in buffers) + ";" + ("\n  int i;" if "(i = 0;" in lines else "")
        sized = "\n".join(f"#define POLICY_{name} {size}  /* {meaning} */" for name, size, meaning in sizes(self.policy))
        needed = [(TANH, "tanh_of(" in lines or self.memory), (GRU, self.memory), (RELU, "relu(" in lines), (CONVOLVE, self.policy.images),
                  (BEST, "best_of(" in lines)]
        parts = {"about": about, "sizes": sized, "prototype": prototype(self.policy), "doc": comment(self.policy, 4 * sum(size for _, size in buffers)),
                 "tables": "\n".join(self.tables), "functions": "".join(text for text, used in needed if used), "statements": declared + "\n" + lines}
        return HEADER % parts, BODY % parts


def c_files(policy, about):
    return Body(policy).text(about)


def driver(policy):
    """A program that reads acts and writes actions, and states after them."""
    names, fixed = arguments(policy), {"const float": "float", "const unsigned char": "unsigned char"}
    declared = "\n".join(f"  {fixed.get(kind, kind)} {name}[POLICY_{size}];" for name, kind, size, _ in names)
    read = " && ".join(f"fread({name}, sizeof {name}, 1, stdin) == 1" for name, *_ in sorted(names, key=lambda each: each[0] == "state")
                       if name not in ("numbers", "choices", "action"))
    call = f"policy_act({', '.join(name for name, *_ in names)});"
    lines = ["const int action = " + call] if policy.returns_choice else [call]
    results = ["action"] if policy.returns_choice else [name for name, *_ in names if name in ("action", "numbers", "choices")]
    lines += [f"fwrite({'&' * policy.returns_choice}{name}, sizeof {name}, 1, stdout);" for name in results + ["state"] * bool(policy.memory)]
    return DRIVER % (declared, read, "\n".join("    " + line for line in lines))
