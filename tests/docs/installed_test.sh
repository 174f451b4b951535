#!/bin/sh
# installed_test.sh BUILD_DIR PYTHON [CMAKE]: installs a build, moves the installation, and executes the commands of README.md and docs in
# an empty home and an empty folder, with only the installation and the system on PATH.
set -eu
build=$1 python=$2 cmake=${3:-cmake}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/before" > "$work/install.log"
mv "$work/before" "$work/after"
mkdir "$work/home" "$work/commands"
cd "$work/home"

# run SCRIPT WORDS...: without the environment of the caller.
run() {
  env -i HOME="$work/home" PATH="$work/after/bin:/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8 "$python" -B "$root/$@"
}
run scripts/check_commands --only documentation --installed "$work/after" --keep "$work/commands"
run scripts/gallery --check --build "$work/after"
run tests/docs/coming_from_test.py "$work/after/bin/backplane"
