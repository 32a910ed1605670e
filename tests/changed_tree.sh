# Sourced by tests that build a changed copy of the tree, as `. changed_tree.sh ATTNVP SOURCE_DIR BUILD_TYPE`.
set -uo pipefail

attnvp=$(realpath -- "$1")
source=$(realpath -- "$2")
build_type=$3
unset ATTNVP_CONFIGS
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
copy=$folder/tree
new=$copy/build/copy/cli/attnvp
numbers='del(.simulation, .machine_hash)' # part of a run's JSON that must be equal in both programs

failures=0
failed() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$*" >&2
}
# same NAME WANTED FOUND
same() { [[ $2 == "$3" ]] || failed "$1: found '$3', not '$2'"; }

mkdir "$copy"
tar -C "$source" --exclude=./build --exclude=./.git --exclude=./tests -cf - . | tar -C "$copy" -xf - || exit 1

# build_copy TARGET ARG...: ARGs go to cmake. The build folder is two levels deep, as those of the presets are, so that
# objects in the compiler cache are found.
build_copy() {
  local target=$1
  shift
  { cmake -G Ninja -S "$copy" -B "$copy/build/copy" -DCMAKE_BUILD_TYPE="$build_type" -DATTNVP_TESTS=OFF \
      -DATTNVP_RTL=OFF "$@" &&
    ninja -C "$copy/build/copy" "$target"; } >"$folder/build.log" 2>&1 ||
    { grep -m 20 error: "$folder/build.log"; tail -20 "$folder/build.log"; exit 1; }
  cd -- "$folder" || exit 1
}
