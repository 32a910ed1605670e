#!/bin/bash
# The script `vp`: its commands, output and exit status. Only for the program that it builds.
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

# The demo: the table that the program prints for eight dataflows.
vp demo --data timing
[[ $status -eq 0 ]] || failed "exit status $status: $(<"$log/stderr")"
(cd -- "$root" && "$attnvp" compare --hw edge-16nm --net bert-base --data timing --html build/demo.html \
  --dataflow mas,fusemax,flash2,lean,tileflow,flat,softpipe,layerwise) >"$log/want" 2>/dev/null
same "$log/stdout" "$log/want"
grep -q '<html' "$root/build/demo.html" || failed "no report page"
[[ $(wc -l <"$log/stdout") -ge 12 ]] || failed "not a table of eight dataflows: $(head -20 "$log/stdout")"

# Other commands are passed to the program, from any folder.
vp run --net H=1,N=16,E=16 --json -
[[ $status -eq 0 ]] || failed "exit status $status: $(<"$log/stderr")"
holds '.golden.passed' "$log/stdout"
vp run --net nowhere
[[ $status -eq 2 && ! -s $log/stdout ]] || failed "exit status $status, not 2"
ln -s "$root/vp" "$in/link"
command='a link to vp'
[[ $("$in/link" --version 2>/dev/null) == $("$attnvp" --version) ]] || failed 'a link to it does not work'

# The build is complete, so that none is announced.
vp run --net H=1,N=16,E=16
[[ $status -eq 0 && ! -s $log/stderr ]] || failed "on stderr: $(<"$log/stderr")"

# A build is announced only if a target is out of date. The project finds its sources by a pattern, as this one does:
# CMake searches for new files at every build.
project=$in/project
mkdir -p "$project/cli"
cp -- "$root/vp" "$project/vp"
echo '# none' >"$project/packages.txt"
cat >"$project/CMakePresets.json" <<'END'
{"version": 3, "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}]}
END
cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.21)
project(small CXX)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
add_executable(attnvp ${sources})
set_target_properties(attnvp PROPERTIES RUNTIME_OUTPUT_DIRECTORY cli)
END
echo 'int main() {}' >"$project/cli/main.cpp"
announces() { # WHY COUNT: number of lines on stderr
  command="vp --version: $1"
  "$project/vp" --version >"$log/stdout" 2>"$log/stderr" </dev/null || failed "exit status $?: $(<"$log/stderr")"
  [[ $(grep -c '^vp: building; ' "$log/stderr") -eq $2 && $(wc -l <"$log/stderr") -eq $2 ]] ||
    failed "not $2 announced: $(<"$log/stderr")"
}
announces 'nothing is built yet' 1
announces 'nothing is left' 0
sleep 1 # resolution of file times
echo 'int main() { return 0; }' >"$project/cli/main.cpp"
announces 'a source has changed' 1
announces 'nothing is left' 0
echo 'int more;' >"$project/cli/more.cpp"
announces 'a source is new' 1
touch "$project/CMakeLists.txt"
announces 'configured anew, to the same' 0

# Help: commands of the script, then those of the program.
vp help
[[ $status -eq 0 && ! -s $log/stderr ]] || failed "exit status $status: $(<"$log/stderr")"
"$attnvp" help >"$log/want"
[[ $(<"$log/stdout") == *"$(<"$log/want")" ]] || failed "not the program's help: $(<"$log/stdout")"
grep -q '^\./vp demo  ' "$log/stdout" || failed 'not its own commands'
vp help run
"$attnvp" help run >"$log/want"
same "$log/stdout" "$log/want"

# The Python package, with the script and then without it; the path file is in the user's packages.
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
