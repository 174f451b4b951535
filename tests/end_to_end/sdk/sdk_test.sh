#!/bin/sh
# sdk_test.sh BUILD_DIR [CMAKE [CC [CXX]]]: installs the build, moves the installation, builds plugins outside of our tree against
# it, and asks the installed program whether it knows them.
set -eu
build=$1
cmake=${2:-cmake}
export CC="${3:-cc}" CXX="${4:-c++}"
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
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

cp -r "$here/plugin" "$work/outside"
build_outside outside "$work/outside"
"$root/scripts/new_plugin" env outside_c --c --to "$work/outside_c" > "$work/new.log"
build_outside outside_c "$work/outside_c"
"$root/scripts/new_plugin" env outside_cpp --to "$work/outside_cpp" > "$work/new.log"
build_outside outside_cpp "$work/outside_cpp"

# The plugin guide shows the file that new_plugin writes.
sed -n '/^```cmake$/,/^```$/{/^```/!p}' "$root/docs/plugin-guide.md" | sed 's/my_other_env/outside_cpp/' > "$work/shown.txt"
if ! diff "$work/shown.txt" "$work/outside_cpp/CMakeLists.txt" >&2; then
  echo "wanted the CMakeLists.txt of docs/plugin-guide.md (<) from scripts/new_plugin (>)" >&2
  exit 1
fi

"$work/after/bin/backplane" plugin list --plugin-path "$work/plugins" > "$work/list.txt"
for name in outside outside_c outside_cpp; do
  if ! grep -q "^env  *$name " "$work/list.txt"; then
    echo "wanted a line with 'env $name' from \`backplane plugin list\`, found:" >&2
    cat "$work/list.txt" >&2
    exit 1
  fi
done
