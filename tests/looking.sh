# Sourced by tests of pictures, as `. looking.sh ATTNVP SOURCE_DIR [PICTURES]`: an empty working folder, a browser and
# GTKWave. PICTURES: folder for the pictures of the documentation.
set -uo pipefail

attnvp=$(realpath -- "$1")
root=$(realpath -- "$2")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
pictures=$(realpath -m -- "${3-$folder/pictures}")
documented=${3+yes}
mkdir -p -- "$pictures"
cd -- "$folder" || exit 1

failures=0
failed() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$*" >&2
}

# pixels PICTURE COLOUR: number of pixels within 6% of it
pixels() {
  convert "$1" -alpha off -fuzz 6% -fill black +opaque "$2" -fill white -opaque "$2" -format '%[fx:mean*w*h]' info: |
    awk '{ printf "%d", $1 }'
}

# Reduces colours, for small files.
small_files() { # PICTURE...
  local picture
  for picture; do
    [[ -f $picture ]] && convert "$picture" +dither -colors 64 -define png:compression-level=9 "PNG8:$picture"
  done
}

browser() { # PAGE ARG...
  local page=$1
  shift
  chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --enable-logging=stderr \
    --hide-scrollbars --virtual-time-budget=5000 "$@" "file://$page" 2>log
  grep CONSOLE log >&2 && failed "$page: something on the console"
}

finish() {
  [[ $failures -eq 0 ]] && echo 'all well'
  exit $((failures > 0))
}
