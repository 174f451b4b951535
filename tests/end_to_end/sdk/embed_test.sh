#!/bin/sh
# embed_test.sh BUILD_DIR [CMAKE [CC [CXX]]]: installs the build, moves the installation, builds examples/embed against it and runs
# both programs.
set -eu
build=$1
cmake=${2:-cmake}
export CC="${3:-cc}" CXX="${4:-c++}"
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1, found:" >&2
  cat "$2" >&2
  exit 1
}

"$cmake" --install "$build" --prefix "$work/before" > "$work/install.log"
mv "$work/before" "$work/after"
cp -r "$root/examples/embed" "$work/examples"
"$cmake" -S "$work/examples" -B "$work/build" "-DCMAKE_PREFIX_PATH=$work/after" > "$work/configure.log"
"$cmake" --build "$work/build" > "$work/build.log" || fail "wanted the examples to be built" "$work/build.log"

# The rule balances the pole, so every episode ends at its limit: 2,000 steps / 500.
"$work/build/step" > "$work/step.txt" 2>&1 || fail "wanted step to end well" "$work/step.txt"
grep -qx '256 episodes, mean return 500.0' "$work/step.txt" || fail "wanted 64 x 2000 / 500 episodes of 500" "$work/step.txt"
if "$work/build/step" '{"max_episode_step": 500}' 2> "$work/wrong.txt"; then
  fail "wanted a misspelt option to be refused" "$work/wrong.txt"
fi
grep -qx "env.cartpole has no option 'max_episode_step'; did you mean 'max_episode_steps'?" "$work/wrong.txt" ||
  fail "wanted the sentence of a misspelt option" "$work/wrong.txt"

cat > "$work/cart.yaml" << YAML
experiment: cart
env: {plugin: cartpole}
learner: {plugin: random}
budget: {iterations: 9}
output: {dir: $work/out}
YAML
"$work/build/train" "$work/cart.yaml" budget.iterations=2 > "$work/train.txt" 2>&1 || fail "wanted train to end well" "$work/train.txt"
grep -qx "results: $work/out" "$work/train.txt" || fail "wanted the results folder" "$work/train.txt"
grep -qx "done after 2 iterations" "$work/train.txt" || fail "wanted two iterations" "$work/train.txt"
