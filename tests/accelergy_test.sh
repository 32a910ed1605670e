#!/bin/bash
# Export of a machine's tables for Accelergy and import into a model: energies and areas are equal. Action counts times
# the table equal the run's energies.
#   accelergy_test.sh ATTNVP SOURCE_DIR
. "${BASH_SOURCE%/*}/folder.sh" "$1" "$2"

machine=(--hw edge-16nm --set dram.policy=banked --set dram.part=hbm2)
"$attnvp" describe edge-16nm "${machine[@]:2}" --ert ERT.yaml --art ART.yaml || failed describe
cat >model.yaml <<'END'
MODEL:
  version: 1
  base: edge-16nm
  figures:    # unused: every energy is in the table
    - {name: fp32_add, pj: 100, nm: 16, provenance: assumed, source: a mistake}
  ert: ERT.yaml
  art: ART.yaml
END
"$attnvp" run "${machine[@]}" --net H=2,N=64,E=32 --json own.json --action-counts counts.yaml >/dev/null || failed run
"$attnvp" run "${machine[@]}" --set energy=model.yaml --net H=2,N=64,E=32 --json back.json >/dev/null || failed 'run with the tables'
python3 - <<'END' || failed 'the tables do not say what the model does'
import json, math, re

own, back = (json.load(open(name)) for name in ("own.json", "back.json"))
for member in ("energy_pj", "area_mm2"):
    for part, value in own[member].items():
        assert math.isclose(value, back[member][part], rel_tol=1e-9), (member, part, value, back[member][part])

def entries(name, value):
    """{component: {action: number}} of the flow maps that attnvp writes."""
    component, table = None, {}
    for line in open(name):
        if found := re.match(r"    - name: (\S+)", line):
            component = table.setdefault(found[1], {})
        elif found := re.match(rf"        - {{name: (\w+),.* {value}: ([-+.\de]+)", line):
            component[found[1]] = float(found[2])
    return table

energies, counts = entries("ERT.yaml", "energy"), entries("counts.yaml", "counts")
total = sum(n * energies[c][a] for c, actions in counts.items() for a, n in actions.items())
assert math.isclose(total, own["energy_pj"]["total"], rel_tol=1e-9), (total, own["energy_pj"]["total"])
END

# Leakage power is independent of the clock.
"$attnvp" run "${machine[@]}" --set clock=1GHz --set energy=model.yaml --net H=2,N=64,E=32 --json slow.json >/dev/null || failed 'run at 1 GHz'
jq -e -s 'map(.power_w.leakage) | .[0] / .[1] - 1 | fabs < 1e-6' own.json slow.json >/dev/null || failed 'leakage depends on the clock'

((failures == 0)) || exit 1
