#!/bin/sh
# sdk_test.sh BUILD_DIR [CMAKE [CC [CXX]]]: installs the build, moves the installation, builds plugins outside of our tree against
# it, and asks the installed program whether it knows them.
set -eu
build=$1
cmake=${2:-cmake}
export CC="${3:-cc}" CXX="${4:-c++}"
here=$(cd "$(dirname "$0")" && pwd)
templates=$here/../../../plugins/envs/template
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/before" > "$work/install.log"
mv "$work/before" "$work/after"
mkdir "$work/plugins"

# build_outside NAME FOLDER: builds the project in FOLDER and keeps its env_NAME.so.
build_outside() {
  "$cmake" -S "$2" -B "$2/build" "-DCMAKE_PREFIX_PATH=$work/after" > "$work/configure.log"
  "$cmake" --build "$2/build"
  cp "$2/build/env_$1.so" "$work/plugins/"
}

# from_template NAME LANGUAGE SUFFIX SOURCES_AND_LIBS: the template as a project of its own, as docs/plugin-guide.md shows it.
from_template() {
  mkdir "$work/$1"
  sed "s/template_$3/$1/" "$templates/$3/plugin.$3" > "$work/$1/plugin.$3"
  cat > "$work/$1/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project($1 LANGUAGES $2)
find_package(backplane REQUIRED)
backplane_add_plugin($1 KIND env SOURCES $4)
CMAKE
  build_outside "$1" "$work/$1"
}

cp -r "$here/plugin" "$work/outside"
build_outside outside "$work/outside"
from_template outside_c C c 'plugin.c LIBS m'
from_template outside_cpp CXX cpp plugin.cpp

"$work/after/bin/backplane" plugin list --plugin-path "$work/plugins" > "$work/list.txt"
for name in outside outside_c outside_cpp; do
  if ! grep -q "^env  *$name " "$work/list.txt"; then
    echo "wanted a line with 'env $name' from \`backplane plugin list\`, found:" >&2
    cat "$work/list.txt" >&2
    exit 1
  fi
done
