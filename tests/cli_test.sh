#!/bin/bash
# Mistakes on the command line and in files: cli_test.sh ATTNVP SOURCE_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

# Missing files and files of another format.
wrong "'nowhere' is not in .*edge" run --hw nowhere
wrong "'edgy' is not in .*did you mean 'edge'" run --hw edgy
wrong 'nowhere.yaml: no such file' run --hw ./nowhere.yaml
wrong "'nowhere' is not in .*attnvp list networks" run --net nowhere
wrong 'nowhere.yaml: no such file' run --net ./nowhere.yaml
wrong "'nowhere' is not in .*overwrite" run --tiling nowhere
for option in --q --k --v; do
  wrong 'nowhere.npy: cannot be read: no such file' run "${small[@]}" "$option" nowhere.npy
  wrong 'not a regular file' run "${small[@]}" "$option" "$in"
done
wrong 'not a regular file' run --hw "$in/"
wrong 'not a regular file' run --tiling "$in"
for option in --tiling --json --vcd --timeline --trace-scope --trace-from --trace-to --out --q --k --v; do wrong "$option: found ''" run "$option" ''; done
wrong "'' is not in" run --hw ''
wrong "'' is not in" run --net ''
wrong "--dataflow: found ''" run --dataflow ''

# Broken configurations, by line.
printf 'base: edge\nl1:\n  size: [5\n' >"$in/broken.yaml"
printf 'base: edge\nl1:\n  sise: 2 MiB\n' >"$in/unknown.yaml"
printf 'base: edge\n\ndram:\n  bandwidth: 30 MHz\n' >"$in/unit.yaml"
printf 'base: edge\ncores: 2\ncores: 3\n' >"$in/twice.yaml"
printf 'base: ./loop.yaml\n' >"$in/loop.yaml"
printf '\0\1\2' >"$in/binary.yaml"
: >"$in/empty.yaml"
wrong 'broken.yaml:[0-9]+: not valid YAML' run --hw "$in/broken.yaml"
wrong "unknown.yaml:3: key 'l1.sise' is unknown; did you mean 'l1.size'" run --hw "$in/unknown.yaml"
wrong "unit.yaml:4: key 'dram.bandwidth': .*unknown unit 'MHz'" run --hw "$in/unit.yaml"
wrong "twice.yaml:3: key 'cores' is given twice" run --hw "$in/twice.yaml"
wrong 'loop.yaml' run --hw "$in/loop.yaml"
wrong 'not a text file' run --hw "$in/binary.yaml"
wrong 'holds no keys' run --hw "$in/empty.yaml"
for option in --net --tiling; do wrong 'broken.yaml:[0-9]+: not valid YAML' run "$option" "$in/broken.yaml"; done
wrong "did you mean 'l1.size'" run --set l1.sise=1
wrong "unknown unit 'GHz'" run --set 'l1.size=2 GHz'
wrong 'has no unit' run --set l1.size=2
wrong 'is negative' run --set 'l1.size=-1 MiB'
wrong 'out of range' run --set 'l1.size=1e30 GiB'
wrong "found '0 B'; allowed is 1 KiB to 4 GiB" run --set 'l1.size=0 B'
wrong "found '0'; allowed is 1 to 64" run --set cores=0
wrong 'is negative' run --set cores=-1
wrong "found '1000000'; allowed is 1 to 64" run --set cores=1000000
wrong "'l0.size'.*allowed is less than l1.size" run --set 'l1.size=8 KiB'
wrong "has no '='" run --set l1
wrong "has no key before '='" run --set =1
wrong "'nowhere' is not in .*energy" run --set energy=nowhere

# Shapes.
wrong "key 'H': found '0'" run --net H=0,N=1,E=1
wrong "key 'N': .*negative" run --net H=1,N=-4,E=1
wrong "key 'E' is missing" run --net H=1,N=4
wrong "key 'X' is unknown" run --net X=1
wrong 'out of range' run --net H=1,N=99999999999999999999,E=1
wrong 'multiply-accumulates' run --net H=65536,N=4194304,E=4096
wrong 'need [0-9]+ bytes of DRAM' run --set 'dram.size=1 MiB'
wrong 'need [0-9]+ bytes of DRAM' run --data timing --net H=1024,N=65536,E=128

# Dataflows, tilings, options.
wrong "dataflow 'maz' is unknown; did you mean 'mas'\\?$" run --dataflow maz
wrong "dataflow 'nothing' is unknown; allowed: .*all: attnvp list dataflows" compare --dataflow nothing
wrong "'softpipe' has no options" run --dataflow softpipe:speed=9
wrong "option 'prefetsh' is unknown; did you mean 'prefetch'" run --dataflow flat:prefetsh=on
wrong "found 'perhaps'; allowed are on, off" run --dataflow flat:prefetch=perhaps
wrong 'given twice' run --dataflow flat:prefetch=on,prefetch=off
wrong 'key=value is expected' run --dataflow flat:
wrong "key 'nqq' is unknown; did you mean 'nq'" run --tiling nqq=4
wrong "key 'nq': found '0'" run --tiling nq=0
wrong "key 'nq': .*whole number" run --tiling nq=1.5
wrong "key 'kv': found '9'" run --tiling kv=9
wrong "option '--jsno' is unknown; did you mean '--json'" run --jsno x.json
wrong "option '--frobnicate' is unknown; allowed: --.*all: attnvp help run." run --frobnicate=1
wrong "option '--frobnicate' is unknown" --frobnicate
wrong "option '--first' is unknown" run --first --second
wrong "'nowhere' is not in .*hardware" run --hw nowhere --net nowhere
wrong "command 'comparee' is unknown; did you mean 'compare'" comparee
wrong "command 'frobnicate' is unknown; allowed: .*all: attnvp help" frobnicate
wrong 'a command is missing; allowed: run, compare, .*attnvp help'
wrong "argument 'extra' is unexpected" run extra
wrong '--hw needs a value' run --hw
wrong '--net is given more than once' run --net xlm --net xlm
wrong "--data: found 'half'; allowed: full, timing" run --data half
wrong "--vec: found 'x'" run --vec x
wrong "--cpu: found 'x'" run --cpu x
for seed in x -1 1.5 18446744073709551616; do wrong "--seed: found '$seed'" run "--seed=$seed"; done
wrong "found 'things'; allowed: hardware" list things
wrong "'nowhere' is not in .*hardware" bench --hw nowhere
wrong '--seconds: ' bench --seconds 0
wrong "--against: 'nowhere' is not a program that can be run" bench --against nowhere
wrong "describe: argument 'what' is missing" describe
wrong "'edgee' is unknown; did you mean 'edge'" describe edgee
wrong "'mac.row' is unknown; did you mean 'mac.rows'" describe mac.row
wrong "is for machines, which 'mac.rows' is not" describe mac.rows --set cores=2
wrong "is for machines, which 'mas' is not" describe mas --set cores=2
wrong "unknown.yaml:3: key 'l1.sise' is unknown" describe "$in/unknown.yaml"

# Hugging Face config.json.
mkdir "$in/llama" "$in/gemma"
printf '{"model_type": "llama", "num_attention_heads": 8, "hidden_size": 512, "x": Infinity}' >"$in/llama/config.json"
printf '{"model_type": "gemma3_text", "num_hidden_layers": 7}' >"$in/gemma/config.json"
done_well describe "hf:$in/llama"
grep -q "llama: batch 1, 8 heads, 2048 queries x 2048 keys, 64 per head" "$log/stdout" || failed 'no shape'
grep -q "heads  *8  *published key 'num_attention_heads' of the file" "$log/stdout" || failed 'no key of the file'
grep -q "layers  *32  *published default of LlamaConfig" "$log/stdout" || failed 'no default'
done_well describe "hf:$in/gemma,layer_type=full_attention,batch=3"
grep -q "batch  *set on the command line" "$log/stdout" || failed 'no key of the command line'
cp "$configs/networks/gpt2.yaml" "$in/own.yaml"
done_well describe "$in/own.yaml,batch=2"
done_well describe gemm:64x64x64
done_well describe "hf:$in/gemma"
done_well run --net "hf:$in/gemma,N=32" --data timing
grep -q '^block  *window, 6 of 7 layers; block=2 is full$' "$log/stdout" || failed 'no block'
wrong "gemma/config.json: layer_type: scope=model runs all layers; allowed is none" \
  run --net "hf:$in/gemma,layer_type=full_attention,scope=model"
wrong "is for machines, which 'hf:.*llama' is not" describe "hf:$in/llama" --set cores=2

for option in --out --q --k --v; do wrong "$option needs --data full" run --data timing "$option" x.npy; done

# Traces.
wrong '--trace-scope needs --vcd, --timeline or --instruction-trace' run "${small[@]}" --trace-scope mac
wrong '--trace-to needs --vcd, --timeline or --instruction-trace' run "${small[@]}" --trace-to 5
wrong "--trace-scope: 'core7' is not a module of this machine; did you mean 'core" run "${small[@]}" --vcd r.vcd --trace-scope core7
wrong '--trace-from is cycle 9, --trace-to cycle 5' run "${small[@]}" --vcd r.vcd --trace-from 9 --trace-to 5
wrong "--trace-from: found '5 MiB'.* allowed units: ps, ns.*without a unit is cycles" run "${small[@]}" --vcd r.vcd --trace-from '5 MiB'

# Streaming graphs.
printf 'nodes:\n  k: {op: source, tensor: K}\n  o: {op: outptu}\n' >"$in/graph.yaml"
wrong "graph.yaml:3: node 'o': key 'op': operation 'outptu' is unknown; did you mean 'output'" stream "$in/graph.yaml"
wrong "graph.yaml:3: node 'o'" describe "$in/graph.yaml"
wrong "'naiv' is not in .*did you mean 'naive'" stream naiv
wrong 'nowhere.yaml: no such file' stream ./nowhere.yaml
wrong "stream: argument 'graph' is missing" stream
for n in 0 -1 x 1.5 1048577; do wrong "--n: found '$n'; allowed is 1 to 1048576" stream naive "--n=$n"; done
wrong "--d: found '4097'; allowed is 1 to 4096" stream naive --d 4097
wrong "channel 'log' is unknown; did you mean 'long'" stream naive --depth log=4
wrong "'N-64', which is 0 for N=64" stream naive --depth long=N-64
wrong "has no '='" stream naive --depth long
wrong "option '--deth' is unknown; did you mean '--depth'" stream naive --deth long=4
for option in --json --vcd --dot; do
  wrong 'nowhere/x: cannot be written: No such file' stream naive --n 4 "$option" nowhere/x
  wrong "$option: found ''" stream naive "$option" ''
done
wrong '--vcd and --json are both to write' stream naive --n 4 --vcd same --json ./same

# Tensors.
npy "$in/shape.npy" '<f2' '2, 48, 17' 3264
npy "$in/type.npy" '<i2' '2, 48, 16' 3072
npy "$in/big.npy" '>f2' '2, 48, 16' 3072
npy "$in/short.npy" '<f2' '2, 48, 16' 3071
npy "$in/long.npy" '<f2' '2, 48, 16' 3073
npy "$in/huge.npy" '<f2' '4611686018427387904, 48, 16' 16
npy "$in/zero.npy" '<f2' '2, 48, 16' 3072
head -c 60 "$in/zero.npy" >"$in/header.npy"
printf 'hello' >"$in/text.npy"
head -c 128 "$in/zero.npy" >"$in/nan.npy" && { head -c 1632 /dev/zero && printf '\x01\x7e' && head -c 1438 /dev/zero; } >>"$in/nan.npy"
head -c 128 "$in/zero.npy" >"$in/inf.npy" && { head -c 3070 /dev/zero && printf '\x00\xfc'; } >>"$in/inf.npy"
for option in --q --k --v; do
  wrong "$option .*nan.npy: element .1, 3, 0. is NaN; allowed are finite numbers" run "${small[@]}" "$option" "$in/nan.npy"
  wrong "$option .*inf.npy: element .1, 47, 15. is infinite" run "${small[@]}" "$option" "$in/inf.npy"
  wrong "$option .*found shape \\(2, 48, 17\\); allowed is .*\\(2, 48, 16\\)" run "${small[@]}" "$option" "$in/shape.npy"
  wrong "element type '<i2'" run "${small[@]}" "$option" "$in/type.npy"
  wrong "element type '>f2'" run "${small[@]}" "$option" "$in/big.npy"
  wrong 'is truncated' run "${small[@]}" "$option" "$in/short.npy"
  wrong 'is truncated' run "${small[@]}" "$option" "$in/header.npy"
  wrong 'trailing bytes' run "${small[@]}" "$option" "$in/long.npy"
  wrong 'huge.npy' run "${small[@]}" "$option" "$in/huge.npy"
  wrong 'is not a .npy file' run "${small[@]}" "$option" "$in/text.npy"
done

# Scores beyond FP16: every row is NaN where double precision is finite. The golden check fails.
{ head -c 128 "$in/zero.npy" && head -c 3072 /dev/zero | tr '\0' _; } >"$in/large.npy"  # 471.75
overflow='golden check failed: 1536 elements beyond tolerance, scores overflow FP16 in 96 of 96 rows'
run run "${small[@]}" --q "$in/large.npy" --k "$in/large.npy" --json -
[[ $status -eq 1 ]] && grep -q "^attnvp: .*$overflow" "$log/stderr" || failed "$status: $(<"$log/stderr")"
holds '.golden.passed == false and (.golden.failure | test("scores overflow FP16 in 96 of 96 rows"))' "$log/stdout"

# Tensors that exceed DRAM: of all layers, of one layer, of attention.
held='DRAM \([0-9]+ of weights, [0-9]+ of K and V, [0-9]+ of one operation.s activations\), dram.size is 1073741824 bytes'
for dataflow in mas auto; do
  wrong "the tensors of 32 layers need at least 16[0-9]{9} bytes of $held" \
    run --net llama3.1-8b,scope=model --set 'dram.size=1 GiB' --dataflow $dataflow --data timing
done
wrong "the layer.s tensors need at least [0-9]+ bytes of $held" \
  run --net llama3.1-8b,phase=decode,batch=64,cache=8192,scope=layer --set 'dram.size=1 GiB' --data timing
# Keys of a machine: only those of its modules, and those that were set.
done_well describe edge
grep -q '^  tRCDRD:\|^  library:\|^  mesh_columns:' "$log/stdout" && failed 'describe edge shows keys of other modules'
done_well describe edge --set interconnect.kind=mesh --set dram.tRCDRD=30
grep -q '^  mesh_columns: 0 ' "$log/stdout" && grep -q '^  tRCDRD: 30 ' "$log/stdout" || failed 'describe leaves out what is set or standing'
done_well describe edge --all
grep -q '^  tRCDRD: 29 ' "$log/stdout" || failed 'describe --all leaves something out'
wrong "is for machines, which 'mas' is not" describe mas --all
# Options are accepted only for the kinds of jobs that they are declared for.
for option in '--q q.npy' '--out o.npy' '--vcd w.vcd' '--timeline t.json' '--trace-from 3' '--trace-scope dram' '--profile p.txt' '--instruction-trace i.txt' \
  '--gdb 0' --gdb-wait --check '--jitter 3' '--action-counts c.yaml'; do
  read -ra words <<<"$option"
  wrong "${words[0]} is for a single operation" run --net H=2,N=48,E=16,hidden=32,ffn=64,scope=layer "${words[@]}"
done
for option in --csv --svg --save; do
  wrong "$option is for a single operation" search --net H=2,N=48,E=16,hidden=32,ffn=64,scope=layer "$option" f
done
layer=(--net "H=2,N=48,E=16,hidden=32,ffn=64,scope=layer" --data timing --no-cache)
done_well run "${layer[@]}" --energy-range
for line in '^power  ' '^area  ' '^DRAM need ' '^energy  *low  *spent  *high' '; tried .*[0-9.]+x'; do
  grep -qE -- "$line" "$log/stdout" || failed "a layer's report has no line $line"
done
done_well compare "${layer[@]}" --dataflow mas,flat --json compare.json
jq -e 'length == 2 and all(.[]; .cycles > 0 and .energy_pj.total > 0 and .power_w.total > 0)' compare.json >/dev/null ||
  failed 'compare has no layers'
done_well run "${layer[@]}" --dataflow flat --json run.json
jq -e --slurpfile all compare.json '.cycles == ($all[0][] | select(.dataflow == "flat") | .cycles)' run.json >/dev/null ||
  failed 'compare has other cycles than run'
rm compare.json run.json
shape=H=2,E=16,hidden=32,ffn=64,gated=1,rotary=1,causal=1,vocabulary=50
done_well profile --net "$shape,experts=4,experts_per_token=2" --csv tables --max-tokens 32 --max-cache 64 --max-batch 2
python3 - "$PWD/tables" <<'END' || failed 'the tables of profile are not as documented'
import csv, sys
from pathlib import Path

def rows(name, columns):
    with open(Path(sys.argv[1]) / name, newline="") as file:
        table = csv.DictReader(file)
        assert table.fieldnames == columns, (name, table.fieldnames)
        return list(table)

dense = rows("llmservingsim/tp1/dense.csv", ["layer", "tokens", "time_us"])
assert {r["layer"] for r in dense} == {"embedding", "layernorm", "qkv_proj", "rotary_emb", "o_proj", "final_layernorm"}
assert [r["tokens"] for r in dense if r["layer"] == "qkv_proj"] == ["1", "2", "4", "8", "16", "32"]
head = rows("llmservingsim/tp1/per_sequence.csv", ["layer", "sequences", "time_us"])
assert [(r["layer"], r["sequences"]) for r in head] == [("lm_head", "1"), ("lm_head", "2")]
attention = rows("llmservingsim/tp1/attention.csv",
                 ["layer", "prefill_chunk", "prefill_key", "n_decode", "kv_decode", "decode_q_len", "time_us"])
time = {(r["prefill_chunk"], r["prefill_key"], r["n_decode"], r["kv_decode"]): float(r["time_us"]) for r in attention}
assert abs(time["32", "80", "2", "64"] - time["32", "80", "0", "0"] - time["0", "0", "2", "64"]) < 0.01
moe = rows("llmservingsim/tp1/moe.csv", ["ep", "tokens", "activated_experts", "time_us"])
assert (moe[0]["activated_experts"], moe[-1]["activated_experts"]) == ("2", "4")
statistics = lambda names: [f"time_stats.{n}.{s}" for n in names for s in ("min", "max", "mean", "median", "std")]
steps = rows("vidur/mlp.csv", statistics(["emb", "input_layernorm", "attn_pre_proj", "attn_rope", "attn_post_proj",
             "post_attention_layernorm", "mlp_up_proj", "mlp_act", "mlp_down_proj", "add"]) +
             ["n_head", "n_kv_head", "n_embd", "n_expanded_embd", "vocab_size", "use_gated_mlp", "num_tokens",
              "num_tensor_parallel_workers"])
qkv = {r["tokens"]: float(r["time_us"]) for r in dense if r["layer"] == "qkv_proj"}
for r in steps:
    assert abs(1000 * float(r["time_stats.attn_pre_proj.median"]) - qkv[r["num_tokens"]]) < 0.01
shots = rows("vidur/attention.csv", statistics(["attn_input_reshape", "attn_kv_cache_save", "attn_prefill",
             "attn_decode", "attn_output_reshape"]) +
             ["n_embd", "n_q_head", "n_kv_head", "block_size", "num_tensor_parallel_workers", "max_model_len",
              "batch_size", "prefill_chunk_size", "kv_cache_size", "is_prefill", "attention_backend"])
assert all(float(r["time_stats.attn_prefill.mean"]) > 0 for r in shots if r["is_prefill"] == "True")
END
rm -r tables
wrong 'latent attention has no columns in these tables' profile --net deepseek-v3 --csv tables
wrong 'cross-attention has no columns in these tables' profile \
  --net "vit-b-16,blocks=12*cross" --csv tables
wrong 'allowed is fuse=off' profile --net "$shape,fuse=on" --csv tables
wrong '--k is for attention' run --net gemm:16x16x16 --k k.npy
printf "new_tokens,cached_tokens\n16,16\n" >"$in/requests.csv"
wrong "--v does not go with --requests" run --net H=2,N=48,E=16 --requests "$in/requests.csv" --v v.npy
wrong 'the tensors need [0-9]+ bytes of DRAM, dram.size is 1048576 bytes' run --net H=1,N=4096,E=128 --set 'dram.size=1 MiB'

# Failures of the simulated machine: no output file is written.
outputs=(--json r.json --vcd r.vcd --timeline t.json --out o.npy)
machine 'L1 is too small: .* at least [0-9]+ bytes, l1.size is 102400 bytes' \
  run --net 'H=1,N=65536,E=16' --set 'l1.size=100 KiB' "${outputs[@]}"
machine 'staged need [0-9]+ bytes of each cluster.s part of the L2, where l2.size leaves 1024' \
  run --net H=2,N=128,E=64 --data timing --set l2.kind=scratchpad --set l2.staging=true --set l2.size=1KiB --tiling nq=32,kv=stream
machine 'L0 is too small: .* at least [0-9]+ bytes, l0.size is 64 bytes' \
  run "${small[@]}" --set 'l0.size=64 B' "${outputs[@]}"
machine 'L0 is too small' compare "${small[@]}" --set 'l0.size=64 B' --json r.json
wrong 'tiling nq=4096 is larger than the layer; allowed is at most 512' run --tiling nq=4096 "${outputs[@]}"

# Narrow terminals: text is wrapped and further columns follow below. Files are unchanged.
narrow() { # WIDTH ARG...
  local width=$1
  shift
  done_well "$@"
  cp "$log/stdout" "$in/wide"
  COLUMNS=$width done_well "$@"
  [[ $(wc -L <"$log/stdout") -le $width ]] || failed "a line of $(wc -L <"$log/stdout") columns where there are $width"
  words() { tr -s ' \n-' '\n' <"$1" | sort -u; }
  [[ -z $(comm -23 <(words "$in/wide") <(words "$log/stdout")) ]] || failed "lost: $(comm -23 <(words "$in/wide") <(words "$log/stdout"))"
}
narrow 80 compare "${small[@]}" --data timing
narrow 60 compare "${small[@]}" --data timing
narrow 72 list hardware
COLUMNS=500 done_well list hardware
done_well list hardware
for wrong in 0 -3 x 5; do COLUMNS=$wrong run list hardware && cmp -s "$log/stdout" "$in/wide" || failed "COLUMNS=$wrong"; done

finish
