#!/bin/bash
# The README says what the program does: runs every command of its ```console blocks and compares what they print.
#   readme_test.sh ATTNVP SOURCE_DIR            fails where README.md differs from what the program prints
#   readme_test.sh --update ATTNVP SOURCE_DIR   writes the program's output into README.md
# A line "..." in the README stands for the rest of an output. ```yaml blocks that open with "# FILE.yaml:" are files
# that the commands may name; so are q.npy, k.npy and v.npy, tensors of bert-base's shape. A program without RTL is not
# asked for it.
set -uo pipefail

update=false
if [[ $1 == --update ]]; then update=true && shift; fi
attnvp=$(realpath -- "$1")
readme=$(realpath -- "$2")/README.md

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder" || exit 1

# In place of ./vp: no set-up, no build. The test command is what runs this very test.
cat >vp <<STUB
#!/bin/bash
case \${1-} in
  demo) shift && exec "$attnvp" compare --hw edge --net bert-base "\$@" ;;
  test | long | build | setup) exit 0 ;;
  *) exec "$attnvp" "\$@" ;;
esac
STUB
chmod +x vp

if [[ $("$attnvp" run --net H=1,N=16,E=16 --vec rtl 2>&1) == *'built without Verilator'* ]]; then
  if $update; then echo 'the README cannot be written anew by a program without RTL' >&2 && exit 1; fi
  sed '/^## The VEC engine in RTL$/,/^## The papers/{/^## The papers/!d}' "$readme" >README.md
  readme=$folder/README.md
fi

"$attnvp" run --net bert-base --out q.npy >/dev/null || exit 1
cp q.npy k.npy && cp q.npy v.npy

# Files first, then commands in order.
file=''
block=''
while IFS= read -r line; do
  case $line in
    '```'?*) block=${line#'```'} file= ;;
    '```') block= ;;
    *)
      if [[ $block == yaml && -z $file && $line =~ ^'# '([a-z0-9-]+\.yaml): ]]; then file=${BASH_REMATCH[1]}; fi
      if [[ $block == yaml && -n $file ]]; then printf '%s\n' "$line" >>"$file"; fi
      ;;
  esac
done <"$readme"

status=0
commands=0
shown=()      # the lines the README shows for the last command
command=''    # the last command; empty outside of console blocks
run_command() {
  [[ -n $command ]] || return
  commands=$((commands + 1))
  local output
  if ! output=$(bash -o pipefail -c "$command" 2>error.txt) || [[ -s error.txt ]]; then
    printf 'failed: %s\n' "$command" && cat error.txt
    status=1
  fi >&2
  # A command shown without output may print what it likes.
  [[ ${#shown[@]} -gt 0 ]] || return
  local i lines
  mapfile -t lines <<<"$output"
  for i in "${!shown[@]}"; do
    if [[ ${shown[i]} == ... && $i -gt 0 && $i -lt ${#lines[@]} ]]; then
      printf '%s\n' "${lines[@]:0:i}" ...
      return
    fi
  done
  printf '%s\n' "$output"
}

while IFS= read -r line; do
  if [[ $block == console ]]; then
    case $line in
      '$ '* | '```')
        run_command
        command=''
        shown=()
        [[ $line == '```' ]] && block=
        [[ $line == '$ '* ]] && command=${line#'$ '}
        printf '%s\n' "$line"
        ;;
      *) shown+=("$line") ;;
    esac
    continue
  fi
  case $line in
    '```'?*) block=${line#'```'} ;;
    '```') block= ;;
  esac
  printf '%s\n' "$line"
done <"$readme" >README.new

[[ $commands -gt 5 ]] || { echo "only $commands commands found in $readme" >&2 && status=1; }
if $update; then
  [[ $status -eq 0 ]] && cp README.new "$readme"
elif ! diff -u "$readme" README.new; then
  echo "README.md differs from what the program prints; tests/readme_test.sh --update writes it anew" >&2
  status=1
fi
exit "$status"
