#!/bin/bash
# Outputs are complete or absent; pipes are supported:
#   outputs_test.sh ATTNVP SOURCE_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

# Paths that cannot be written.
for option in --json --vcd --out; do
  wrong 'nowhere/x: cannot be written: No such file' run "${small[@]}" "$option" nowhere/x
  wrong 'cannot be written: Is a directory' run "${small[@]}" "$option" "$in"
  others=()
  for other in --json --vcd --out; do [[ $other == "$option" ]] || others+=("$other" "file$other"); done
  wrong 'nowhere/x: cannot be written' run "${small[@]}" "${others[@]}" "$option" nowhere/x
  # Full disk: none of the other outputs is written.
  [[ -w /dev/full ]] && wrong 'No space left' run "${small[@]}" "${others[@]}" "$option" /dev/full
done
wrong 'nowhere/x: cannot be written' compare "${small[@]}" --json nowhere/x
for option in --vcd --timeline --out; do wrong "$option: found '-'; allowed is a file" run "${small[@]}" "$option" -; done
wrong "--csv: found '-'; allowed is a file" reproduce mas --csv -

# Two outputs to one file are refused, also under different names.
wrong "the save file of --vcd and --json are both to write" run "${small[@]}" --vcd r.vcd --json r.gtkw
wrong '--vcd and --json are both to write' run "${small[@]}" --vcd same --json ./same
wrong '--csv and --svg are both to write' search "${small[@]}" --csv same --svg ./same
wrong '--svg and --save are both to write' search "${small[@]}" --save "$in/../in/same" --svg "$in/same"
wrong '--json and --csv are both to write' reproduce mas --json same --csv same
ln -s "$in/target" "$in/link"
wrong '--json and --out are both to write' run "${small[@]}" --json "$in/link" --out "$in/target"

# An output that would replace an input is refused, also under another name.
"$attnvp" describe edge | sed '/^# address map/,$d' >"$in/m.yaml"
printf 'heads: 2\nseq: 48\nemb: 16\n' >"$in/n.yaml"
printf 'nq: 8\n' >"$in/t.yaml"
printf 'nodes:\n  q: {op: source, tensor: Q}\n  k: {op: discard}\nchannels:\n  c: {from: q, to: k, depth: 2}\n' >"$in/g.yaml"
npy "$in/q.npy" '<f2' '2, 48, 16' 3072
ln -s m.yaml "$in/m-link.yaml" && ln "$in/m.yaml" "$in/m-hard.yaml"
kept() { # FILE ARG...: refused; FILE is unchanged
  local file=$1
  shift
  cp "$file" "$in/before"
  wrong 'is read by this command, too, and would be lost' "$@"
  same "$file" "$in/before"
}
for option in --json --vcd --timeline --out --action-counts; do
  kept "$in/m.yaml" run "${small[@]}" --hw "$in/m.yaml" "$option" "$in/m.yaml"
  kept "$in/n.yaml" run --net "$in/n.yaml" "$option" "$in/n.yaml"
  kept "$in/t.yaml" run "${small[@]}" --tiling "$in/t.yaml" "$option" "$in/t.yaml"
  kept "$in/q.npy" run "${small[@]}" --q "$in/q.npy" "$option" "$in/q.npy"
done
kept "$in/m.yaml" run "${small[@]}" --hw "$in/m-link.yaml" --json "$in/m-hard.yaml"
kept "$in/m.yaml" run "${small[@]}" --hw "$in/m.yaml" --json "$in/m-link.yaml"
kept "$in/m.yaml" compare "${small[@]}" --hw "$in/m.yaml" --json "$in/m.yaml"
kept "$in/m.yaml" search "${small[@]}" --hw "$in/m.yaml" --save "$in/m.yaml"
for option in --json --vcd --dot; do kept "$in/g.yaml" stream "$in/g.yaml" --n 4 "$option" "$in/g.yaml"; done
printf 'base: edge\nenergy: ./e.yaml\n' >"$in/with.yaml" && cp "$configs/energy/pat.yaml" "$in/e.yaml"
kept "$in/e.yaml" run "${small[@]}" --hw "$in/with.yaml" --json "$in/e.yaml"
done_well run "${small[@]}" --json "$in/r.json" --timeline "$in/r.timeline.json"
kept "$in/r.json" report "$in/r.json" -o "$in/r.json"
kept "$in/r.timeline.json" report "$in/r.json" -o "$in/r.timeline.json"
printf 'network: H=1,N=32,E=16\naxes:\n  cores: [1, 2]\n' >"$in/s.yaml"
done_well sweep "$in/s.yaml" --db "$in/s.db"
for option in --csv --svg --html; do kept "$in/s.db" pareto "$in/s.db" "$option" "$in/s.db"; done
for option in --csv --svg; do kept "$in/s.db" sensitivity "$in/s.db" "$option" "$in/s.db"; done
wrong '--csv and --html are both to write' pareto "$in/s.db" --csv same --html same

# Links are followed, also to files that do not exist yet.
mkdir "$in/there"
ln -s there/new.json "$in/dangling.json"
done_well run "${small[@]}" --json "$in/dangling.json"
[[ -L $in/dangling.json && -f $in/there/new.json ]] || failed 'a dangling link was replaced'
ln -s circle "$in/circle"
wrong 'cannot be written: Too many levels of symbolic links' run "${small[@]}" --json "$in/circle"

# Pipes and standard streams.
reference=$(jq .cycles "$in/there/new.json")
command='attnvp run --json /dev/stdout | ...'
"$attnvp" run "${small[@]}" --json /dev/stdout 2>"$log/stderr" | cat >"$log/stdout"
[[ $(sed '/^}/q' "$log/stdout" | jq .cycles) == "$reference" ]] || failed "$(head -3 "$log/stdout"; cat "$log/stderr")"
"$attnvp" run "${small[@]}" --json /dev/stdout >"$log/stdout" 2>"$log/stderr"
[[ $(sed '/^}/q' "$log/stdout" | jq .cycles) == "$reference" && $(grep -c '^cycles ' "$log/stdout") -eq 1 ]] ||
  failed "to a file: $(head -3 "$log/stdout"; cat "$log/stderr")"
command='attnvp run --json >(...)'
"$attnvp" run "${small[@]}" --json >(jq .cycles >"$in/substituted") >/dev/null || failed 'exit status'
for _ in {1..600}; do [[ -s $in/substituted ]] && break || sleep 0.05; done
[[ $(<"$in/substituted") == "$reference" ]] || failed "process substitution: $(<"$in/substituted")"
command='attnvp run --vcd /dev/stdout | ...'
"$attnvp" run "${small[@]}" --vcd "$in/a.vcd" >/dev/null
"$attnvp" run "${small[@]}" --vcd /dev/stdout --json /dev/null 2>"$log/stderr" | head -c "$(wc -c <"$in/a.vcd")" >"$log/stdout"
same "$in/a.vcd" "$log/stdout"
mkfifo "$in/pipe"
jq .cycles "$in/pipe" >"$in/pipe.cycles" &
done_well run "${small[@]}" --json "$in/pipe"
wait
[[ $(<"$in/pipe.cycles") == "$reference" ]] || failed 'a named pipe'
wrong 'pipe: cannot be written: the pipe has no reader' run "${small[@]}" --json "$in/pipe"
wrong 'pipe: cannot be read: not a regular file' report "$in/pipe"
wrong 'pipe: cannot be read: not a regular file' run --hw "$in/pipe"
head -c 1 "$in/pipe" >/dev/null &
run run --net H=4,N=256,E=64 --data timing --json "$in/pipe" --vcd /dev/null
[[ $status -eq 0 || $status -eq 2 ]] || failed "a reader that goes away: exit status $status"
wait

# Every output names its origin: version, command, overrides, tiling, seed and machine hash.
cd "$in" || exit 1
"$attnvp" run "${small[@]}" --set l1.size=2MiB --seed 7 --json o.json --vcd o.vcd --timeline o.timeline --action-counts o.counts >/dev/null
"$attnvp" search "${small[@]}" --set l1.size=2MiB --seed 7 --budget 5 --json f.json --csv f.csv --svg f.svg --save f.yaml >/dev/null
"$attnvp" report o.json -o o.html >/dev/null
"$attnvp" stream "$in/g.yaml" --n 4 --dot o.dot >/dev/null
"$attnvp" describe edge --set l1.size=2MiB --area --svg area.svg --ert o.ert --art o.art >/dev/null
"$attnvp" schedule "${small[@]}" --set l1.size=2MiB --json schedule.json >/dev/null
hash=$(jq -r .machine_hash o.json)
version=$("$attnvp" --version | cut -d' ' -f2)
tiling=$(jq -r '.tiling | to_entries | map("\(.key)=\(.value)") | join(" ")' o.json)
says() { # FILE TEXT...
  local file=$1 text
  shift
  command="attnvp ... $file"
  for text; do grep -qF -- "$text" "$file" || failed "$file does not say $text"; done
}
of_run=("$version" "attnvp run ${small[*]} --set l1.size=2MiB --seed 7" "$hash" l1.size=2MiB "$tiling")
for file in o.vcd o.gtkw o.timeline o.counts; do says $file "${of_run[@]}"; done
says o.html "$version" 'content="attnvp report o.json"' "$hash" '"l1.size":"2MiB"' '"seed":7' "${of_run[1]}"
of_search=("$version" "attnvp search ${small[*]} --set l1.size=2MiB --seed 7 --budget 5" "$hash" l1.size=2MiB)
for file in f.csv f.svg f.yaml; do says $file "${of_search[@]}" 'nq='; done
for file in area.svg o.ert o.art; do says $file "$version" 'attnvp describe edge --set l1.size=2MiB --area' "$hash" l1.size=2MiB; done
says o.dot "$version" "attnvp stream $in/g.yaml --n 4"
command='JSON of search and schedule'
for file in f.json schedule.json; do
  [[ $(jq -r '.version + .machine_hash + .overrides["l1.size"]' $file) == "$version${hash}2MiB" ]] || failed "$file: $(head -9 $file)"
done
[[ $(head -2 f.csv | tail -1 | awk -F, '{ print $NF }') == 7 ]] || failed "f.csv's last column is not the seed"
"$attnvp" run --tiling f.yaml "${small[@]}" >/dev/null || failed 'the saved tiling cannot be read'
cd "$folder/here" || exit 1

# Failed writes to stdout are reported.
if [[ -w /dev/full ]]; then
  for arguments in "run ${small[*]}" --help --version 'run --help' list 'describe keys' help; do
    read -ra words <<<"$arguments"
    command="attnvp $arguments > /dev/full"
    "$attnvp" "${words[@]}" >/dev/full 2>"$log/stderr"
    [[ $? -eq 2 && $(<"$log/stderr") =~ ^'attnvp: stdout cannot be written: '[Nn]'o space left' ]] ||
      failed "a full stdout went by: $(<"$log/stderr")"
  done
fi

# Full disk.
if unshare -rm true 2>/dev/null; then
  command='on a full disk'
  mkdir "$in/disk"
  on_small_disk() { # SIZE ARG...: writes the output of `ls -A` to $log/left
    local size=$1
    shift
    # shellcheck disable=SC2016
    unshare -rm bash -c 'mount -t tmpfs -o size="$1" none "$2" && cd "$2" && shift 2 && left=$1 && shift
      "$@"; status=$?; ls -A >"$left"; exit $status' - "$size" "$in/disk" "$log/left" "$attnvp" "$@" >"$log/stdout" 2>"$log/stderr"
  }
  on_small_disk 16k run "${small[@]}" --json r.json --out o.npy --vcd r.vcd
  [[ $? -eq 2 && ! -s $log/left ]] && grep -q 'No space left' "$log/stderr" || failed "left: $(<"$log/left"), $(<"$log/stderr")"
  on_small_disk 8k sweep "$in/s.yaml" --db s.db
  [[ $? -eq 2 && ! -s $log/left ]] && grep -q 's.db: cannot be written: no space left' "$log/stderr" ||
    failed "left: $(<"$log/left"), $(<"$log/stderr")"
fi

# An interrupted command leaves no files.
command='attnvp run, interrupted'
timeout --signal=TERM 0.3 "$attnvp" run --net H=64,N=4096,E=128 --json r.json --vcd r.vcd --out r.npy >/dev/null 2>&1
[[ -z $(ls -A) ]] || failed "left behind: $(ls -A)"

finish
