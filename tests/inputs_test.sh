#!/bin/bash
# Hostile inputs: each is refused with one printable sentence, in limited time and memory:
#   inputs_test.sh ATTNVP SOURCE_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

# Each refusal is one short line of UTF-8 without control characters.
hostile() { # PATTERN ARG...
  wrong "$@"
  [[ $(wc -c <"$log/stderr") -lt 4000 ]] || failed "a message of $(wc -c <"$log/stderr") bytes"
  head -c -1 "$log/stderr" | LC_ALL=C grep -q '[[:cntrl:]]' && failed "control characters in: $(cat -v "$log/stderr")"
  iconv -f utf-8 -t utf-8 "$log/stderr" >/dev/null || failed "no UTF-8: $(cat -v "$log/stderr")"
}
repeated() { yes -- "$1" | head -n "$2" | tr -d '\n'; }  # TEXT TIMES
sweep_with() { printf 'network: H=1,N=16,E=16\nconstraints: ["%s"]\n' "$1" >"$in/sweep.yaml"; }

# Inputs that are not regular files: a folder, a pipe without writer, a device.
mkdir "$in/a-folder" && mkfifo "$in/a-pipe"
for path in "$in/a-folder" "$in/a-pipe" /dev/zero; do
  for words in "riscv $path" "run --firmware $path" "check --firmware $path" "schedule --firmware $path" \
    "run --hw $path" "run --net $path" "run --net H=1,N=16,E=16,block_mask=$path" "run --net H=1,N=16,E=16,bias=$path" \
    "run --tiling $path" "run --requests $path" "run --q $path" "run --set energy=$path" "run --set dram.part=$path" \
    "sweep $path" "pareto $path" "merge $in/out.db $path" "validate --data $path" "calibrate --data $path --key cores" \
    "report $path" "describe $path"; do
    # shellcheck disable=SC2086
    hostile 'not a regular file' $words
  done
done
mkfifo "$in/config.json"
hostile 'not a regular file' run --net "hf:$in/config.json"

# Long and deeply nested expressions.
sweep_with "1$(repeated ' + 1' 80000) > 0"
done_well sweep "$in/sweep.yaml" --dry-run
sweep_with "1$(repeated ' + 1' 120000) > 0"
hostile 'has more than 200000 values and operators' sweep "$in/sweep.yaml" --dry-run
for function in floor ceil round -; do
  sweep_with "$(repeated "$function(" 400)cores$(repeated ')' 400) > -100"
  done_well sweep "$in/sweep.yaml" --dry-run
done
sweep_with "$(repeated 'floor(' 20000)cores$(repeated ')' 20000) > 0"
hostile 'is nested too deeply' sweep "$in/sweep.yaml" --dry-run
sweep_with "$(repeated 'not ' 100000)cores > 0"
hostile 'is nested too deeply' sweep "$in/sweep.yaml" --dry-run
printf 'network: H=1,N=32,E=16\naxes:\n  cores: [1, 2]\n' >"$in/two.yaml"
done_well sweep "$in/two.yaml" --db "$in/two.db"
done_well pareto "$in/two.db" -x "$(repeated 'floor(' 400)cycles$(repeated ')' 400)"
hostile 'is nested too deeply' pareto "$in/two.db" -x "$(repeated 'floor(' 5000)cycles$(repeated ')' 5000)"
hostile 'nested too deeply' stream naive --depth "long=$(repeated '(' 5000)N"
hostile "'64-N', which is 0 for N=64" stream naive --depth long=64-N

# Deeply nested JSON and invalid JSON.
{ repeated '[' 100000 && repeated ']' 100000; } >"$in/deep.json"
hostile 'deep.json: is nested 100000 levels deep; allowed are 100' report "$in/deep.json"
printf '{"schema": 1, "cycles": 1e999}' >"$in/range.json"
hostile 'range.json: not JSON' report "$in/range.json"
printf '{"a": "\xff"}' >"$in/bytes.json"
hostile 'bytes.json: not JSON, from byte [0-9]+ on' report "$in/bytes.json"

# A chain of bases.
for i in {1..200}; do printf 'base: ./c%d.yaml\n' $((i - 1)) >"$in/c$i.yaml"; done
printf 'base: edge\n' >"$in/c0.yaml"
hostile "key 'base': .* files stand on one another; allowed are 32" describe "$in/c200.yaml"
done_well describe "$in/c20.yaml"

# Names that are not UTF-8 or contain control characters: in files, of files, on the command line.
printf 'base: edge\nname: "a\xff"\n' >"$in/bytes.yaml"
hostile 'bytes.yaml:2: holds the byte .xff; allowed is text in UTF-8' run --hw "$in/bytes.yaml"
printf 'base: edge\n# \x1b[31m\n' >"$in/escape.yaml"
hostile 'escape.yaml:2: holds the control character .x1b' run --hw "$in/escape.yaml"
printf 'base: edge\nname: "\\e[31m"\n' >"$in/escaped.yaml"
hostile 'found .*x1b.31m.; allowed is a text of 1 to 200 printable' run --hw "$in/escaped.yaml"
odd=$in/$'odd\xff\n\x1b[31m'
printf 'base: edge\n' >"$odd.yaml"
printf 'heads: 1\nseq: 16\nemb: 16\n' >"$odd-net.yaml"
done_well run --hw "$odd.yaml" --net "$odd-net.yaml" --json -
holds '.hardware == "odd\\xff\\n\\x1b[31m" and .network.name == .hardware + "-net"' "$log/stdout"
done_well describe "$odd.yaml"
hostile 'no such file' run --hw "$odd-none.yaml"
hostile 'is not in' run --hw $'\xff\xfe\x1b]0;title\x07'
hostile 'key .*is unknown' run --set $'a\nb\xff=1'
hostile 'unknown' run --dataflow "$(repeated x 9000)"
hostile 'unknown' $'--\xff\x1b'
hostile 'unknown' "$(repeated y 9000)"
printf 'base: edge\nl1:\n\tsize: 2 MiB\n' >"$in/tab.yaml"
hostile 'tab.yaml:3: is indented by a tab; allowed are spaces' run --hw "$in/tab.yaml"
printf 'network: ["%s"]\nhardware: "%s"\n' 'H=1,N=16,E=16' ./odd.yaml >"$in/odd-sweep.yaml"
cp "$configs/hardware/edge.yaml" "$in/odd.yaml"
mkdir "$in/"$'dir\xff' && cp "$in/odd.yaml" "$in/odd-sweep.yaml" "$in/"$'dir\xff/'
for times in first second; do
  done_well sweep "$in/"$'dir\xff/odd-sweep.yaml' --db "$in/$times.db"
  grep -q '^crashed' "$log/stdout" && failed "a job crashed: $(<"$log/stdout")"
done
done_well pareto "$in/second.db" --html "$in/odd.html"

# Pages: inserted text is not expanded again and cannot end a script element.
evil='@CHART@ @DATA@ </script><script>alert(1)</script><!--<script>'
printf 'base: edge\nname: "%s"\n' "@CHART@" >"$in/mark.yaml"
printf "name: '%s'\nheads: 1\nseq: 16\nemb: 16\n" "$evil" >"$in/evil.yaml"
done_well run --hw "$in/mark.yaml" --net "$in/evil.yaml" --json "$in/evil.json"
done_well report "$in/evil.json" -o "$in/evil.html"
sed -n 's|^<script type="application/json" id="data">\(.*\)</script>$|\1|p' "$in/evil.html" >"$in/evil.data"
holds '.runs[0].hardware == "@CHART@" and (.runs[0].network.name | startswith("@CHART@ @DATA@ </script>"))' "$in/evil.data"
[[ $(grep -c '<script' "$in/evil.html") -eq 3 ]] || failed "$(grep -c '<script' "$in/evil.html") scripts in the page"
printf 'network: ./evil.yaml\nhardware: ./mark.yaml\naxes:\n  cores: [1, 2]\n' >"$in/evil-sweep.yaml"
done_well sweep "$in/evil-sweep.yaml" --db "$in/evil.db"
done_well pareto "$in/evil.db" --html "$in/front.html" --where "network != '$evil'"
[[ $(grep -c '<script' "$in/front.html") -eq 3 ]] || failed "$(grep -c '<script' "$in/front.html") scripts in the page"

finish
