#!/bin/sh
# sdk_test.sh BUILD_DIR [CMAKE [CC [CXX]]]: installs the build, moves the installation, builds a plugin outside of our tree
# against it, and asks the installed program whether it knows the plugin.
set -eu
build=$1
cmake=${2:-cmake}
export CC="${3:-cc}" CXX="${4:-c++}"
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/before" > "$work/install.log"
mv "$work/before" "$work/after"

"$cmake" -S "$here/plugin" -B "$work/build" "-DCMAKE_PREFIX_PATH=$work/after" > "$work/configure.log"
"$cmake" --build "$work/build"

mkdir "$work/plugins"
cp "$work/build/env_outside.so" "$work/plugins/"
"$work/after/bin/backplane" plugin list --plugin-path "$work/plugins" > "$work/list.txt"
if ! grep -q outside "$work/list.txt"; then
  echo "wanted a line with 'outside' from \`backplane plugin list\`, found:" >&2
  cat "$work/list.txt" >&2
  exit 1
fi
