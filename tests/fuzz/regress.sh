#!/bin/bash
# Inputs of repaired findings, and a few cases of every target.
#   regress.sh ATTNVP SOURCE_DIR
command -v python3 >/dev/null || exit 77
export PYTHONDONTWRITEBYTECODE=1
findings=$(mktemp -d)
trap 'rm -rf "$findings"' EXIT
python3 "$2/tests/fuzz/fuzz.py" "$1" --regress &&
  python3 "$2/tests/fuzz/fuzz.py" "$1" --cases 3 --seed 1000 --findings "$findings"
