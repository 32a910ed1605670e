#!/bin/bash
# Sweeps from the command line: output, shards, damaged files, fronts.
#   sweep_test.sh ATTNVP SOURCE_DIR
. "${BASH_SOURCE%/*}/sweep_harness.sh" "$1" "$2"

### Output of a sweep

expect 0 '' sweep many.yaml --dry-run
holds '^jobs +320 on 80 machines$'
[[ -e many.db ]] && failed 'a dry run left a database'
expect 0 '' sweep many.yaml --jobs 1
holds '^done +320$'
expect 0 '' sweep many.yaml
holds '^done before +320$'
expect 0 '' sweep many.yaml --jobs 2 --db two.db
same_rows many.db two.db

### Failed jobs: status 1, by cause; repeated only on request

printf 'network: H=2,N=48,E=16\ndataflow: [flat, mas]\naxes: {l1.size: [60 KiB, 1 MiB], tiling: [default, "nq=999"]}\n' >fails.yaml
expect 1 '6 of 8 jobs did not end well; --retry tries them again' sweep fails.yaml
holds '^done +2$'
holds '^failed +6; each says why'
holds "^causes +4 x .*'l0.size'.* less than l1.size"
holds '^ +2 x .*larger than the layer'
expect 1 '6 of 8 jobs did not end well' sweep fails.yaml
holds '^done before +8$'
holds "^causes +4 x "
expect 1 '6 of 8 jobs' sweep fails.yaml --retry
holds '^done before +2$'
holds '^failed +6;'

### Shards in any order, one of them twice

for k in 3 1 2 1; do expect 0 '' sweep many.yaml --shard "$k/3"; done
expect 1 '' sweep many.yaml --db many.1-of-3.db --status
expect 0 '' merge merged.db many.2-of-3.db many.1-of-3.db many.3-of-3.db
holds '^database +merged.db, 320 rows$'
same_rows many.db merged.db
expect 0 '' sweep many.yaml --db merged.db --status

### Mistakes: one sentence, results are kept

expect 2 "'nowhere' is not in .*sweeps" sweep nowhere
expect 2 '--shard: found .4/3.' sweep tiny.yaml --shard 4/3
expect 2 '--shard: found .1.' sweep tiny.yaml --shard 1
expect 2 "--jobs: found '9999'; allowed is 0 to 1024" sweep tiny.yaml --jobs 9999
expect 2 "sweep: argument 'sweep' is missing" sweep
expect 2 'nowhere.db: no such file' pareto nowhere.db
expect 2 'nowhere.db: no such file' merge out.db nowhere.db
[[ -e out.db ]] && failed 'a failed merge left a database'
printf 'axes:\n  l1.size: []\n' >wrong.yaml
expect 2 "wrong.yaml:2: axis 'l1.size' has no values" sweep wrong.yaml
printf 'axes:\n  l1.sice: [1 MiB]\n' >wrong.yaml
expect 2 "wrong.yaml:2: key 'l1.sice' is unknown; did you mean 'l1.size'" sweep wrong.yaml
expect 2 'tiny.yaml: cannot be (read|written): not a database' sweep tiny.yaml --db tiny.yaml
cp many.db version.db
sqlite3 version.db 'PRAGMA user_version = 7'
expect 2 'version.db: has schema version 7; this attnvp reads version 3' sweep many.yaml --db version.db

# Damage inside a row, which SQLite does not detect: reported by each reader.
expect 0 '' sweep tiny.yaml --db tiny-kept.db
number=$(sqlite3 tiny-kept.db 'SELECT cycles FROM jobs LIMIT 1')
damaged() { # SQL
  cp tiny-kept.db damaged.db && sqlite3 damaged.db "$1"
  expect 2 'damaged.db: (the row of job .* is damaged: its values do not match|is damaged: it says)' pareto damaged.db
  expect 2 'damaged.db: (the row of job .* is damaged|is damaged)' sweep tiny.yaml --db damaged.db
  expect 2 'damaged.db: (the row of job .* is damaged|is damaged)' merge all-of-it.db damaged.db
  [[ -e all-of-it.db ]] && failed 'a failed merge left a database'
}
for sql in "cycles = $((number ^ 1))" 'cycles = NULL' "cycles = x'00ff'" "command = CAST(x'61ff' AS TEXT)" "status = 'dome'" \
  'seconds = seconds * 2' 'checksum = 0' "dataflow = 'flat'" "hardware = hardware || ' '"; do
  damaged "UPDATE jobs SET $sql"
done
damaged "UPDATE meta SET name = 'axjs cores' WHERE name LIKE 'axis %'"
python=$(command -v python3) && "$python" - tiny-kept.db flipped.db <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.rindex(b"attnvp run --hw")
data[at] ^= 1
open(sys.argv[2], "wb").write(data)
PYTHON
[[ -z $python ]] || expect 2 'flipped.db: the row of job .* is damaged' pareto flipped.db
expect 2 "none of the [0-9]+ jobs has a finite value of 'cycles / \\(cores - cores\\)'" pareto tiny-kept.db -x 'cycles / (cores - cores)'
expect 2 "none of the [0-9]+ jobs has a finite value of 'partition.occupancy'" sensitivity tiny-kept.db --objective partition.occupancy

# Databases of different sweeps are not merged.
expect 2 'many.db: is of another sweep .many. than tiny-kept.db .tiny., .* --different-sweeps' merge joined.db tiny-kept.db many.db
[[ -e joined.db ]] && failed 'a failed merge left a database'
expect 0 '' merge joined.db tiny-kept.db many.db --different-sweeps
expect 0 '' merge joined.db many.db

### Fronts and sensitivities

expect 0 '' pareto many.db --versus mas,flat --csv f.csv --svg f.svg --html f.html
holds ' of 320 jobs are on the front'
holds 'mas versus flat, cycles'
[[ $(wc -l <f.csv) -ge 2 ]] && grep -q '</svg>' f.svg && grep -q 'id="data">{' f.html || failed 'an output is missing'
# The command of a row repeats the job with equal cycles.
command=$(tail -1 f.csv | sed -E 's/.*,"?(attnvp run .*[^"])"?,[0-9.]+,"?attnvp pareto .*$/\1/; s/""/"/g')
cycles=$(PATH=$(dirname -- "$attnvp"):$PATH bash -c "$command --json -" | jq .cycles)
[[ $cycles == "$(tail -1 f.csv | cut -d, -f1)" ]] || failed "$command: $cycles cycles, not $(tail -1 f.csv | cut -d, -f1)"
expect 0 '' pareto many.db -x 'cycles / 1000' -y 'l1.size * clusters' -z 'max:utilization.mac' --where 'cores == 2' --svg g.svg
# The least L1 within 5% of the fewest cycles, computed from the table.
expect 0 '' pareto many.db -x cycles -y l1.size --within 5%
least=$(sqlite3 many.db 'SELECT min("l1.size") / 1024 FROM jobs WHERE cycles <= 1.05 * (SELECT min(cycles) FROM jobs)')
holds "^the least l1.size within 5% of the best cycles: $least KiB\$"
expect 0 '' pareto many.db -x cycles -y l1.size --within 0%
holds '^  cycles .*, 0.0% more than the best$'
expect 2 "--within: found '5'; allowed is a share such as 5%" pareto many.db --within 5
expect 2 '-x: expression .cycels.: .cycels. is unknown; did you mean .cycles.' pareto many.db -x cycels
expect 2 '.energy_pj. is unknown; did you mean one of energy_pj.clock, .*energy_pj.total' pareto many.db -x energy_pj
expect 2 '.bandwidth. is unknown; did you mean .dram.bandwidth.' pareto many.db --where 'bandwidth > 3 GB/s'
expect 2 'none of its 320 rows is done and has cores > 64' pareto many.db --where 'cores > 64'
expect 2 'nowhere/f.csv: cannot be written' pareto many.db --svg new.svg --csv nowhere/f.csv
[[ -e new.svg ]] && failed 'half of the outputs were written'
expect 0 '' sensitivity many.db --objective cycles --objective energy_pj.l1 --csv s.csv --svg s.svg
holds '^l1.size  '
cp f.html first.html && expect 0 '' pareto two.db --html second.html
expect 0 '' pareto many.db --html third.html
cmp -s <(sed 's/(two\([,)]\)/(many\1/g; s/two[.]db/many.db/g; s/second[.]html/third.html/g' second.html) third.html || failed 'equal rows, different pages'

### Slurm's scripts, without Slurm

mkdir bin && printf '#!/bin/bash\nprintf "%%s\\n" "$*" >>calls\necho $((40 + $(wc -l <calls)))\n' >bin/sbatch && chmod +x bin/sbatch
PATH=$PWD/bin:$PATH expect 0 '' sweep tiny.yaml --slurm --shards 2 --slurm-option=--time=5
holds '^array +job 41 of 2 shards$'
holds '^merge +job 42, into tiny.db$'
grep -q -- '--parsable --dependency=afterany:41 .*merge.sh' calls || failed "sbatch was called so: $(<calls)"
grep -q '^#SBATCH --array=1-2$' tiny.slurm/array.sh && grep -q '^#SBATCH --time=5$' tiny.slurm/merge.sh ||
  failed "scripts: $(<tiny.slurm/array.sh)"
for k in 2 1; do SLURM_ARRAY_TASK_ID=$k bash tiny.slurm/array.sh >/dev/null || failed "shard $k"; done
bash tiny.slurm/merge.sh >stdout || failed 'the merge script'
holds '^done before +2$'
PATH=/usr/bin:/bin; hash -r
if ! command -v sbatch >/dev/null; then expect 2 'sbatch is not on PATH' sweep tiny.yaml --slurm; fi

[[ $failures -eq 0 ]] || { echo "$failures failures" >&2 && exit 1; }
