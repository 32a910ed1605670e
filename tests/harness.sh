# Sourced by the command line's tests, as `. harness.sh ATTNVP SOURCE_DIR`: an empty working folder, and checks of one
# command each. A mistake gives its exit status and one line on stderr that starts with "attnvp: ". It leaves stdout
# empty and writes no file.
set -uo pipefail

attnvp=$(realpath -- "$1")
configs=$(realpath -- "$2")/configs
unset ATTNVP_CONFIGS COLUMNS

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
mkdir "$folder/in" "$folder/here" "$folder/log"
cd -- "$folder/here" || exit 1
in=$folder/in
log=$folder/log

checks=0
failures=0
failed() {
  failures=$((failures + 1))
  local what=$*
  printf 'FAILED: %s\n  %s\n' "${command:0:300}" "${what:0:1000}" >&2
}
run() { # ARG...: sets status; stdout and stderr go to $log
  checks=$((checks + 1))
  command=$(printf '%q ' attnvp "$@")
  timeout 120 "$attnvp" "$@" >"$log/stdout" 2>"$log/stderr" </dev/null
  status=$?
}

# refused STATUS PATTERN ARG...: PATTERN, a regular expression, is in the message.
refused() {
  local want=$1 pattern=$2
  shift 2
  run "$@"
  [[ $status -eq $want ]] || failed "exit status $status, not $want: $(<"$log/stderr")"
  [[ $(wc -l <"$log/stderr") -eq 1 ]] || failed "stderr is not one line: $(<"$log/stderr")"
  grep -q '^attnvp: ' "$log/stderr" || failed "stderr does not start with 'attnvp: ': $(<"$log/stderr")"
  grep -qE -- "$pattern" "$log/stderr" || failed "no '$pattern' in: $(<"$log/stderr")"
  [[ -s $log/stdout ]] && failed "something on stdout: $(head -1 "$log/stdout")"
  [[ -z $(ls -A) ]] || failed "left behind: $(ls -A)"
  rm -rf -- "$folder/here/"* "$folder/here/".attnvp*
}
wrong() { refused 2 "$@"; }    # usage or configuration
machine() { refused 1 "$@"; }  # the simulated machine or firmware

done_well() { # ARG...
  run "$@"
  [[ $status -eq 0 ]] || failed "exit status $status: $(<"$log/stderr")"
  [[ -s $log/stderr ]] && failed "something on stderr: $(<"$log/stderr")"
  [[ -s $log/stdout ]] || failed "nothing on stdout"
}
same() { cmp -s -- "$1" "$2" || failed "$1 and $2 differ"; }
holds() { jq -e "$1" "$2" >"$log/jq" 2>&1 || failed "not so in $2: $1: $(head -3 "$log/jq")"; }
all_hold() { # FILE FILTER...: as `holds` for each filter; one process if none fails
  local file=$1 filter joined=true
  shift
  for filter; do joined+=" and ($filter)"; done
  jq -e "$joined" "$file" >"$log/jq" 2>&1 && return
  failed "not all of these hold in $file: $(head -3 "$log/jq")"
  for filter; do holds "$filter" "$file"; done
}

small=(--net 'H=2,N=48,E=16')

# npy FILE TYPE SHAPE BYTES: version 1.0 with BYTES zero bytes of data
npy() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
  local length=117  # 10 bytes before it and a newline after it: 128
  { printf '\x93NUMPY\x01\x00\x76\x00' && printf "%-${length}s\n" "$header" && head -c "$4" /dev/zero; } >"$1"
}

finish() {
  command='all of them'
  [[ -z $(ls -A) ]] || failed "left behind: $(ls -A)"
  echo "$checks commands, $failures failures"
  [[ $failures -eq 0 ]]
}
