#!/bin/sh
# build_tree_test.sh BUILD_DIR [CMAKE [CC [CXX]]]: with BUILD_DIR/bin on PATH, runs the commands of README.md for a plugin, and builds
# the other things that pages build with `backplane sdk`.
set -eu
build=$1
cmake=${2:-cmake}
export CC="${3:-cc}" CXX="${4:-c++}" PATH="$build/bin:$PATH"
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# run WORDS...: they must succeed.
run() {
  "$@" > log 2>&1 || {
    echo "failed: $*; it printed:" >&2
    cat log >&2
    exit 1
  }
}

run backplane new env my_task
grep -qF 'cmake -S my_task -B my_task/build -Dbackplane_DIR="$(backplane sdk --cmakedir)" && cmake --build my_task/build' log || {
  echo "expected the commands that build the plugin, got:" >&2
  cat log >&2
  exit 1
}
run "$cmake" -S my_task -B my_task/build -Dbackplane_DIR="$(backplane sdk --cmakedir)" -DCMAKE_BUILD_TYPE=Debug
run "$cmake" --build my_task/build
run backplane plugin validate my_task/build/env_my_task.so
run backplane run my_task/my_task.yaml --set budget.iterations=2

# MuJoCo, LibTorch and the library for other programs in one project, so that CMake looks for the compiler once.
run backplane new env my_robot --mujoco
cp "$root/examples/embed/step.c" .
cat > CMakeLists.txt << CMAKE
cmake_minimum_required(VERSION 3.25)
project(all LANGUAGES C CXX)
find_package(backplane 0.1 REQUIRED)
backplane_add_plugin(my_robot KIND env SOURCES my_robot/plugin.cpp USES mujoco)
add_executable(step step.c)
target_link_libraries(step PRIVATE backplane::embed)
CMAKE
if [ -e "$build/lib/backplane/torch.json" ]; then
  echo "backplane_add_plugin(needs_torch KIND learner SOURCES $root/tests/fixtures/plugins/needs_torch.cpp USES torch)" >> CMakeLists.txt
fi
run "$cmake" -S . -B all -Dbackplane_DIR="$(backplane sdk --cmakedir)" -DCMAKE_BUILD_TYPE=Debug
run "$cmake" --build all --parallel 2
run all/step
run backplane plugin describe env.my_robot --plugin-path all
run "$CC" -I"$(backplane sdk --includedir)" -c step.c
run test -f "$(backplane sdk --sharedir)/configs/quickstart.yaml" -a -x "$(backplane sdk --sharedir)/build_corpus"
