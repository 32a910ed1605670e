# Sourced by tests in bash, as `. folder.sh ATTNVP SOURCE_DIR`: the program, the tree, an empty working folder that is
# removed at the end, and the count of failures.
set -uo pipefail

attnvp=$(realpath -- "$1")
root=$(realpath -- "$2")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder" || exit 1

failures=0
failed() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$*" >&2
}
