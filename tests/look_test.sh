#!/bin/bash
# Waveforms shown by GTKWave, checked by pixels. Needs gtkwave, xvfb and imagemagick.
#   look_test.sh ATTNVP SOURCE_DIR [PICTURES]   PICTURES: folder for the pictures
. "$(dirname -- "$0")/looking.sh" "$@"

# gtkwave_picture PICTURE HEIGHT ARG...: GTKWave, started in another folder than the files'
gtkwave_picture() {
  local picture=$1 height=$2
  shift 2
  (cd / && xvfb-run -a -s "-screen 0 1500x${height}x24" bash -c '
    picture=$1; shift
    gtkwave "$@" >/dev/null 2>&1 &
    for _ in {1..40}; do
      sleep 0.5
      import -window root "$picture"
      # Drawing has ended when two consecutive pictures have colours and are equal.
      if [[ $(identify -format %k "$picture") -gt 20 ]] && cmp -s "$picture" "$picture.before"; then break; fi
      cp "$picture" "$picture.before"
    done
    rm -f "$picture.before"
    kill $!' _ "$picture" "$@")
}

# Each run's own view and the saved ones: busy engines have colours, which depend on the translate filters.
mkdir traces && cp -r "$root/traces/views" traces/
declare -A more=([mas-overwrite]='--hw overwrite-v --dataflow mas:overwrite=on --tiling overwrite')
for name in layerwise softpipe flat tileflow mas mas-overwrite; do
  read -ra arguments <<<"${more[$name]-"--dataflow $name"}"
  "$attnvp" run --data timing --net bert-base "${arguments[@]}" --vcd "traces/$name.vcd" >/dev/null || failed "run $name"
  height=600
  [[ $name == layerwise || $name == softpipe ]] && height=450
  gtkwave_picture "$pictures/$name.png" $height "$folder/traces/views/$name.gtkw"
  for colour in 'rgb(58,95,205)' 'rgb(46,139,87)' 'rgb(104,34,139)'; do # QK^T, PV, softmax
    [[ $name == softpipe && $colour == 'rgb(46,139,87)' ]] && continue  # later
    [[ $(pixels "$pictures/$name.png" "$colour") -gt 100 ]] || failed "$name: GTKWave shows none of $colour"
  done
done
gtkwave_picture "$pictures/run.png" 1050 "$folder/traces/mas.gtkw"
"$attnvp" run --data timing --net H=16,N=2048,E=64 --set cores=16 --vcd traces/cores.vcd >/dev/null || failed 'run of 16 cores'
gtkwave_picture "$pictures/cores.png" 1050 "$folder/traces/cores.gtkw"
for colour in 'rgb(58,95,205)' 'rgb(46,139,87)' 'rgb(104,34,139)'; do
  [[ $(pixels "$pictures/cores.png" "$colour") -gt 5000 ]] || failed "sixteen cores: the overview shows little of $colour"
done
[[ $(pixels "$pictures/run.png" 'rgb(46,139,87)') -gt 5000 ]] || failed "a run's own view shows no PV"
"$attnvp" run --data timing --net bert-base --vcd traces/fst.fst >/dev/null
gtkwave_picture "$folder/fst.png" 1050 "$folder/traces/fst.gtkw"
[[ $(pixels "$folder/fst.png" 'rgb(46,139,87)') -gt 5000 ]] || failed 'the view of an FST shows no PV'

# With RTL in the build: the RTL of the VEC engine beside the state of the model.
if "$attnvp" run --net H=2,N=64,E=32 --tiling nq=16 --vec rtl --vcd traces/rtl.vcd >/dev/null 2>&1; then
  gtkwave_picture "$pictures/rtl.png" 450 "$folder/traces/views/rtl.gtkw"
  [[ $(pixels "$pictures/rtl.png" 'rgb(104,34,139)') -gt 100 ]] || failed 'rtl: GTKWave shows no softmax'
  [[ $(pixels "$pictures/rtl.png" 'rgb(0,255,0)') -gt 1000 ]] || failed 'rtl: GTKWave shows no clock'
fi

[[ $(pixels "$pictures/run.png" 'rgb(255,0,255)') -eq 0 ]] || failed 'colours are not told apart'

# For the documentation: without title bars, which show the paths of files.
if [[ -n $documented ]]; then
  for picture in "$pictures"/{layerwise,softpipe,flat,tileflow,mas,mas-overwrite,rtl,run,cores}.png; do
    [[ -f $picture ]] || continue
    convert "$picture" -crop +4+97 +repage "$picture"
    small_files "$picture"
  done
fi
finish
