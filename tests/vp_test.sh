#!/bin/bash
# The script `vp` itself: what it runs, with what output and exit status. Only for the program that it builds.
#   vp_test.sh ATTNVP SOURCE_DIR
root=$(realpath -- "$2")
[[ $(realpath -- "$1") == "$root/build/release/cli/attnvp" ]] || exit 77
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

vp() { # ARG...: as run
  command="vp $*"
  "$root/vp" "$@" >"$log/stdout" 2>"$log/stderr" </dev/null
  status=$?
}

# The demo: two machines, each the table that the program prints, all dataflows in both.
vp demo --data timing
[[ $status -eq 0 ]] || failed "exit status $status: $(<"$log/stderr")"
{
  "$attnvp" compare --hw edge --net bert-base --data timing 2>/dev/null
  echo
  "$attnvp" compare --hw edge-16nm --net bert-base --energy-range --data timing 2>/dev/null
} >"$log/want"
same "$log/stdout" "$log/want"
[[ $(grep -cE '^bert-base on edge(-16nm)?$' "$log/stdout") -eq 2 && $(grep -c '^mas ' "$log/stdout") -ge 2 ]] ||
  failed "not two tables: $(head -20 "$log/stdout")"

# Anything else is the program's own, from any folder.
vp run --net H=1,N=16,E=16 --json -
[[ $status -eq 0 ]] || failed "exit status $status: $(<"$log/stderr")"
holds '.golden.passed' "$log/stdout"
vp run --net nowhere
[[ $status -eq 2 && ! -s $log/stdout ]] || failed "exit status $status, not 2"
ln -s "$root/vp" "$in/link"
command='a link to vp'
[[ $("$in/link" --version 2>/dev/null) == $("$attnvp" --version) ]] || failed 'a link to it does not work'

# The Python package, by the script and, after it, without; the path file is where the user's packages are.
if command -v python3 >/dev/null; then
  export PYTHONUSERBASE=$in/user
  unset VIRTUAL_ENV PYTHONPATH
  vp python -c 'import attnvp; print(attnvp.run(net=dict(H=1, N=16, E=16)).golden.passed)'
  [[ $status -eq 0 && $(<"$log/stdout") == True ]] || failed "$(<"$log/stderr")"
  command='python3 after ./vp python'
  [[ $(python3 -c 'import attnvp; print(attnvp.run(net="H=1,N=16,E=16").golden.passed)' 2>&1) == True ]] || failed 'no package'
  vp python
  [[ $status -eq 0 && ! -s $log/stdout ]] || failed "exit status $status: $(<"$log/stderr")"
  grep -q 'imports attnvp' "$log/stderr" && failed 'what is there already is told of again'
fi

finish
