# Sourced by the sweeps' tests, as `. sweep_harness.sh ATTNVP SOURCE_DIR`: an empty working folder with the sweeps
# many.yaml and tiny.yaml, and checks.
. "${BASH_SOURCE%/*}/folder.sh" "$1" "$2"
configs=$root/configs
unset ATTNVP_CONFIGS
chmod 755 "$folder"
# expect STATUS PATTERN ARG...: the exit status, and on stderr one line with PATTERN, or none if PATTERN is empty.
expect() {
  local want=$1 pattern=$2
  shift 2
  timeout 300 "$attnvp" "$@" >stdout 2>stderr </dev/null
  local status=$?
  [[ $status -eq $want ]] || failed "attnvp $*: exit status $status, not $want: $(<stderr)"
  if [[ -z $pattern ]]; then
    [[ -s stderr ]] && failed "attnvp $*: $(<stderr)"
  else
    [[ $(wc -l <stderr) -eq 1 ]] && grep -qE -- "^attnvp: .*$pattern" stderr || failed "attnvp $*: no '$pattern' in: $(<stderr)"
  fi
}
holds() { grep -qE -- "$1" stdout || failed "no '$1' in: $(<stdout)"; }
rows() { sqlite3 "$1" 'SELECT * FROM jobs ORDER BY key'; }
same_rows() {
  cmp -s <(rows "$1") <(rows "$2") || failed "$1 and $2 differ: $(diff <(rows "$1") <(rows "$2") | cut -c1-2000 | head -4)"
}

cat >many.yaml <<'YAML'
# 320 jobs
network: H=4,N=256,E=64
dataflow: [flat, mas]
tiling: [default, "nq=32"]
axes:
  cores: [1, 2]
  vec.lanes: {from: 64, to: 512, points: 8}
  l1.size: {from: 256 KiB, to: 4 MiB, scale: log, points: 5}
set:
  l1.ports: = 2 * cores + 1
YAML
printf 'network: H=2,N=48,E=16\ndataflow: [flat, mas]\n' >tiny.yaml
