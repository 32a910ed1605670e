#!/bin/bash
# Commands of the documentation: runs every command of the ```console blocks of README.md, docs/**/*.md and
# configs/README.md, each page in its own folder, and compares the output.
#   readme_test.sh ATTNVP SOURCE_DIR [PAGE]            fails if a page differs from the program's output
#   readme_test.sh --update ATTNVP SOURCE_DIR [PAGE]   writes the program's output into the pages
# PAGE, such as docs/how-to/run-a-sweep.md: only this page.
# A line "..." in a page stands for the rest of an output. ```yaml and ```diff blocks that open with "# FILE.yaml:" or
# "# FILE.diff:" are files that the commands may name; so are q.npy, k.npy and v.npy, tensors of bert-base's shape.
# Commands that need RTL or RISC-V tools are skipped if the build lacks them. Commands see a terminal of 100 columns. A
# command that ends in a backslash continues in the next line. An expected failure ends in "# exit status N".
set -uo pipefail

update=false
if [[ $1 == --update ]]; then update=true && shift; fi
attnvp=$(realpath -- "$1")
source=$(realpath -- "$2")
cd -- "$source" || exit 1
if [[ -n ${3-} ]]; then pages=("$3"); else mapfile -t pages < <(find README.md docs configs/README.md -name "*.md" | sort); fi
unset ATTNVP_CONFIGS
export COLUMNS=100

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
mkdir "$folder/common"
cd -- "$folder/common" || exit 1

# With a compiler cache, the projects of all pages share the objects of the firmware's runtime.
gcc=riscv64-unknown-elf-gcc
if command -v ccache >/dev/null && command -v $gcc >/dev/null; then
  mkdir "$folder/compilers" && ln -s "$(command -v ccache)" "$folder/compilers/$gcc"
  export PATH=$folder/compilers:$PATH CCACHE_NOHASHDIR=1
fi

# Stand-in for ./vp without set-up and build. The test command is skipped, because it runs this test.
cat >vp <<STUB
#!/bin/bash
case \${1-} in
  demo) shift && mkdir -p build && exec "$attnvp" compare --html build/demo.html --hw edge-16nm --net bert-base --dataflow mas,fusemax,flash2,lean,tileflow,flat,softpipe,layerwise "\$@" ;;
  test | long | build | setup) exit 0 ;;
  *) exec "$attnvp" "\$@" ;;
esac
STUB
chmod +x vp
rtl=true
if [[ $("$attnvp" run --net H=1,N=16,E=16 --vec rtl 2>&1) == *'built without Verilator'* ]]; then rtl=false; fi
riscv=true
if ! command -v riscv64-unknown-elf-g++ >/dev/null; then riscv=false; fi
if $update && ! { $rtl && $riscv; }; then echo 'the pages cannot be written anew without RTL and RISC-V tools' >&2 && exit 1; fi

status=0
commands=0
command=''   # the last one; empty outside of console blocks
shown=()     # the lines that the page shows for it
run_command() {
  [[ -n $command ]] || return
  commands=$((commands + 1))
  if { ! $rtl && [[ $command == *rtl* ]]; } || { ! $riscv && [[ $command =~ riscv|edge-soc|make|mine ]]; }; then
    printf '%s\n' "${shown[@]}"
    return
  fi
  local output expected=0 got=0
  if [[ $command =~ '# exit status '([0-9]+)$ ]]; then expected=${BASH_REMATCH[1]}; fi
  output=$(bash -o pipefail -c "$command" 2>error.txt) || got=$?
  if [[ $got -ne $expected ]] || { [[ $expected -eq 0 ]] && grep -qv '^attnvp: left out: ' error.txt; }; then
    printf 'failed: %s\n' "$command" && cat error.txt
    status=1
  fi >&2
  # Output of a command that is shown without output is not compared.
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

# The corrected page, on stdout.
rewritten() { # PAGE
  local file='' block='' line
  while IFS= read -r line; do  # files first, then commands in order
    case $line in
      '```'?*) block=${line#'```'} file= ;;
      '```') block= ;;
      *)
        if [[ -z $file && $line =~ ^'# '([a-z0-9-]+\.(yaml|diff)): && ${BASH_REMATCH[2]} == "$block" ]]; then
          file=${BASH_REMATCH[1]}
        fi
        if [[ -n $file && -n $block ]]; then printf '%s\n' "$line" >>"$file"; fi
        ;;
    esac
  done <"$1"
  block=''
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
        *)
          if [[ $command == *\\ ]]; then
            command=${command%\\}$line
            printf '%s\n' "$line"
          else
            shown+=("$line")
          fi
          ;;
      esac
      continue
    fi
    case $line in
      '```'?*) block=${line#'```'} ;;
      '```') block= ;;
    esac
    printf '%s\n' "$line"
  done <"$1"
}

for name in "${pages[@]}"; do
  page=$source/$name
  [[ -f $page ]] || { echo "there is no page $name" >&2 && exit 2; }
  grep -q '^```console$' "$page" || continue
  mkdir -p "$folder/$name" && cp "$folder/common/"* "$folder/$name/" && cd -- "$folder/$name" || exit 1
  ln -s "$source/examples" examples
  if grep -q '^\$ .*q\.npy' "$page"; then
    "$attnvp" run --net bert-base --out q.npy >/dev/null || exit 1
    cp q.npy k.npy && cp q.npy v.npy
  fi
  commands=0
  rewritten "$page" >"$folder/page.md"
  ((commands > 0)) || { echo "$name: no command found in its console blocks" >&2 && status=1; }
  if $update; then
    cp "$folder/page.md" "$page"
  elif ! diff -u "$page" "$folder/page.md"; then
    echo "$name differs from what the program prints; tests/readme_test.sh --update writes it anew" >&2
    status=1
  fi
done

[[ " ${pages[*]} " == *' README.md '* ]] || exit "$status"
# The errors in README.md equal those of docs/results/validation.md.
sets=0
while read -r rows mean worst; do
  sets=$((sets + 1))
  grep -qF "| $rows | $mean | $worst |" "$source/README.md" || { echo "README.md has no set of $rows rows, $mean mean error, $worst worst" >&2 && status=1; }
done < <(awk '/^```$/ { ++fences } fences == 1 && /%$/ { print $(NF - 4), $(NF - 3), $NF }' "$source/docs/results/validation.md")
[[ $sets -gt 3 ]] || { echo "only $sets sets in docs/results/validation.md" >&2 && status=1; }

exit "$status"
