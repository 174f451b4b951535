#!/bin/sh
# sdk_test.sh BUILD_DIR SANITIZE [CMAKE [CC [CXX]]]: installs the build, moves the installation, and builds plugins outside of our tree
# against it, with CMake and without. Where SANITIZE is empty, also every template of `backplane new`, which has to pass its tests and
# `plugin validate` and to train.
set -eu
build=$1
sanitize=$2
cmake=${3:-cmake}
export CC="${4:-cc}" CXX="${5:-c++}"
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CMAKE_BUILD_TYPE
if command -v ccache > /dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$work" CCACHE_NOHASHDIR=1
fi

fail() {
  echo "$1, found:" >&2
  cat "$2" >&2
  exit 1
}

"$cmake" --install "$build" --prefix "$work/before" > "$work/install.log"
mv "$work/before" "$work/after"
backplane=$work/after/bin/backplane
mkdir "$work/plugins"

# build_outside FOLDER: builds the project in FOLDER.
build_outside() {
  "$cmake" -S "$1" -B "$1/build" "-DCMAKE_PREFIX_PATH=$work/after" > "$work/log" 2>&1 || fail "wanted $1 to be configured" "$work/log"
  "$cmake" --build "$1/build" --parallel 2 > "$work/log" 2>&1 || fail "wanted $1 to be built" "$work/log"
}

cp -r "$here/plugin" "$work/outside"
build_outside "$work/outside"
grep -qx 'CMAKE_BUILD_TYPE:STRING=Release' "$work/outside/build/CMakeCache.txt" ||
  fail "wanted Release where no build type is set" "$work/outside/build/CMakeCache.txt"
cp "$work/outside/build/env_outside.so" "$work/plugins/"
"$backplane" plugin list --plugin-path "$work/plugins" > "$work/list.txt"
grep -q '^env  *outside ' "$work/list.txt" || fail "wanted a line with 'env outside' from \`plugin list\`" "$work/list.txt"

# Expects backplane_add_plugin to reject ARGUMENTS with this SENTENCE. Arguments: SENTENCE ARGUMENTS [NAME=VALUE]
refused() {
  mkdir -p "$work/refused"
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(refused LANGUAGES NONE)\nfind_package(backplane REQUIRED)\n' > "$work/refused/CMakeLists.txt"
  printf 'backplane_add_plugin(refused %s)\n' "$2" >> "$work/refused/CMakeLists.txt"
  if env ${3:-A=B} "$cmake" -S "$work/refused" -B "$work/refused/build" "-DCMAKE_PREFIX_PATH=$work/after" > "$work/log" 2>&1; then
    fail "wanted the arguments '$2' to be refused" "$work/log"
  fi
  tr -s '\n ' ' ' < "$work/log" | grep -qF "$1" || fail "wanted the sentence '$1'" "$work/log"
}
refused "USES: expected mujoco or torch, got 'mujcoo'" 'KIND env SOURCES plugin.cpp USES mujcoo'
refused "unknown argument 'USE'; the arguments are KIND, SOURCES, LIBS, USES," 'KIND env SOURCES plugin.cpp USE mujoco'
refused "unknown argument 'USE'; the arguments are KIND" 'KIND env SOURCES plugin.cpp LIBS m USE mujoco'
refused "unknown argument 'plugin.cpp'; the arguments are KIND" 'KIND env plugin.cpp'
refused "KIND: expected env, learner or monitor, got 'environment'" 'KIND environment SOURCES plugin.cpp'
refused "got no include/ and lib/libtorch.so in $work/nowhere. \`backplane setup torch\`" 'KIND learner SOURCES plugin.cpp USES torch' \
  "BACKPLANE_TORCH_LIB=$work/nowhere/lib"

[ -z "$sanitize" ] || exit 0  # such a host accepts plugins that are built like it

# Builds without CMake, by the two lines of docs/plugin-guide.md: the guide's complete plugins, each after its file's name.
mkdir "$work/pages"
cd "$work/pages"
awk '/^`[a-z_]+\.(cpp|yaml)`:$/ {name = $0; gsub(/[`:]/, "", name)}
     /^```$/ {out = ""} out {print > out} /^```[a-z]+$/ && name {out = name; name = ""}' "$here"/../../../docs/guide/*.md
for file in *.cpp; do
  "$CXX" -std=c++20 $("$backplane" sdk --cflags) "$file" -o "${file%.cpp}.so"
  "$backplane" plugin seal "${file%.cpp}.so"
done
for file in polynomial reinforce; do
  "$backplane" run "$file.yaml" --set budget.iterations=2 > "$work/log" 2>&1 || fail "wanted $file to train" "$work/log"
done

# All templates in one project, so that CMake looks for the compiler once. A plugin that needs LibTorch is next to them.
mkdir "$work/new"
cd "$work/new"
"$backplane" new env my_env > "$work/new.log"
"$backplane" new env my_c_env --lang c >> "$work/new.log"
"$backplane" new env my_team --agents >> "$work/new.log"
"$backplane" new env my_wrapper --wrapper >> "$work/new.log"
"$backplane" new learner my_learner >> "$work/new.log"
"$backplane" new learner my_off_policy --off-policy >> "$work/new.log"
! command -v rustc > /dev/null || "$backplane" new learner my_rust --off-policy --lang rust >> "$work/new.log"
"$backplane" new learner my_memory --recurrent >> "$work/new.log"
"$backplane" new monitor my_monitor >> "$work/new.log"
! ls "$work/after/lib/backplane/plugins/" | grep -q '^libmujoco' || "$backplane" new env my_task --mujoco >> "$work/new.log"
grep -q 'plugin validate my_c_env/build/env_my_c_env.so' "$work/new.log" || fail "wanted what comes next" "$work/new.log"
if grep -r template_ .; then
  echo "wanted the plugin's own name in these lines" >&2
  exit 1
fi
# An author renames classes and members in plugin.cpp first. The tests have to build as they are.
rename() {  # FILE OLD...
  file=$1 && shift
  [ -e "$file" ] || return 0
  for old; do
    grep -qw "$old" "$file" || fail "wanted '$old' in $file" "$file"
    sed -i "s/\\b$old\\b/other_$old/g" "$file"
  done
}
rename my_env/plugin.cpp Point x v dt reset_range Observe
rename my_c_env/plugin.c row x v Create Observe
rename my_team/plugin.cpp Meeting x kRobots ToOthers Spread
rename my_wrapper/plugin.cpp SmoothReward average_ per_row_ weight_
rename my_task/plugin.cpp Pole PoleTerms max_angle upright way
rename my_learner/plugin.cpp CrossEntropy Distribution mean spread now_ Weight
rename my_off_policy/plugin.cpp SoftActorCritic Joint LearnValue log_alpha_ low_
rename my_memory/plugin.cpp Recurrent weights_ to_go_ Probabilities Largest
rename my_monitor/plugin.cpp IterationTable columns_ name_ table_
{
  printf 'cmake_minimum_required(VERSION 3.25)\nset(CMAKE_BUILD_TYPE Debug)\nproject(all LANGUAGES C CXX)\nenable_testing()\n'  # Debug: compiled in half the time
  for folder in */; do
    echo "add_subdirectory(${folder%/})"
  done
  if [ -e "$work/after/lib/backplane/torch.json" ]; then
    echo 'find_package(backplane REQUIRED)'
    echo "backplane_add_plugin(needs_torch KIND learner SOURCES $here/../../fixtures/plugins/needs_torch.cpp USES torch)"
  fi
} > CMakeLists.txt
build_outside .
(cd build && ctest --exclude-regex needs_torch --output-on-failure --parallel 2 > "$work/log" 2>&1) || fail "wanted all templates to pass their tests" "$work/log"
for folder in */; do
  name=${folder%/}
  [ "$name" != build ] || continue
  mkdir "$name/build"
  cp "build/$name"/*.so* "$name/build/"
  "$backplane" run "$name/$name.yaml" --set budget.iterations=2 --out "$work/out/$name" > "$work/log" 2>&1 || fail "wanted $name to train" "$work/log"
done

if [ -e build/learner_needs_torch.so ]; then
  "$backplane" plugin describe learner.needs_torch --plugin-path build > "$work/log" || fail "wanted a plugin that uses LibTorch" "$work/log"
fi
mv "$work"/after/lib/backplane/plugins/libmujoco.so.* "$work/"
refused "USES mujoco: expected an installation of Backplane with MuJoCo" 'KIND env SOURCES plugin.cpp USES mujoco'
