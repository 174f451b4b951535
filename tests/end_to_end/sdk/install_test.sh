#!/bin/sh
# install_test.sh BUILD_DIR: installs a build with scripts/install, and runs the command from an empty folder.
set -eu
build=$1
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset BACKPLANE_PYTHON BACKPLANE_HOME
cd "$work"

fail() {
  echo "$1, got:" >&2
  cat "$2" >&2
  exit 1
}

"$root/scripts/install" --from "$build" --prefix "$work/.local" > log
grep -qF "PATH=$work/.local/bin:\$PATH" log || fail "expected the line that sets PATH" log
export PATH="$work/.local/bin:$PATH"
"$root/scripts/install" --from "$build" --prefix .local > log
grep -qF 'backplane --help' log || fail "expected a command of the shell" log

backplane run configs/parallel_efficiency/cartpole.yaml --set budget.iterations=2 --set learner.options.train_batch_size=128 \
  --set learner.options.minibatch_size=64 --out out > log 2>&1 || fail "expected a finished run" log
find out -name '*.png' | grep -q . || fail "expected figures" log
! grep -F vl-convert log || fail "expected no hint for figures" log

# A record whose interpreter has gone with the clone is skipped.
echo '{"python": "/nowhere/python"}' > .local/lib/backplane/python.json
PATH="$work/.local/bin:/usr/bin:/bin" backplane doctor > log || true
! grep -F /nowhere log || fail "expected another Python" log
