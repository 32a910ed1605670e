#!/bin/bash
# Sweeps that end early: killed, interrupted, on a full disk, without permission to write. Results are kept.
#   sweep_stopped_test.sh ATTNVP SOURCE_DIR [KILLS]    KILLS: number of kills of a running sweep, 4 by default
. "${BASH_SOURCE%/*}/sweep_harness.sh" "$1" "$2"
kills=${3:-4}

expect 0 '' sweep many.yaml

### kill -9 at random times, then completion

for ((i = 0; i < kills; ++i)); do
  "$attnvp" sweep many.yaml --db killed.db --jobs 2 >/dev/null 2>&1 &
  sweep=$!
  sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
  kill -9 "$sweep" 2>/dev/null
  wait "$sweep" 2>/dev/null
  ((i % 2)) || continue  # every second time the killed sweep is killed again
  expect 0 '' sweep many.yaml --db killed.db --jobs 2
  same_rows many.db killed.db
  [[ $(sqlite3 killed.db 'PRAGMA integrity_check') == ok ]] || failed 'the killed database is damaged'
  rm killed.db
done

# Ctrl-C keeps completed jobs. The job of a crashed worker is run again by the next run.
env --default-signal=INT "$attnvp" sweep many.yaml --db stopped.db --jobs 1 >stdout 2>stderr &
sweep=$!
kept() { sqlite3 -readonly stopped.db 'SELECT count(*) FROM jobs' 2>/dev/null; }
until [[ $(kept) -gt 0 ]]; do sleep 0.05 && kill -0 "$sweep" 2>/dev/null || break; done
kill -INT "$sweep"
wait "$sweep"
status=$?
[[ $status -eq 130 ]] || failed "exit status $status after an interrupt: $(<stderr)"
[[ $(kept) -gt 0 && $(kept) -lt 320 ]] || failed "kept after an interrupt: '$(kept)' of 320 jobs"
expect 0 '' sweep many.yaml --db stopped.db
same_rows many.db stopped.db
"$attnvp" sweep many.yaml --db crashed.db --jobs 2 >stdout 2>stderr &
sweep=$!
sleep 0.3
worker=$(pgrep -P "$sweep" | head -1)
[[ -n $worker ]] && kill -9 "$worker"
wait "$sweep"
status=$?
if [[ -n $worker && $status -ne 0 ]]; then
  [[ $status -eq 1 ]] || failed "a dead worker: exit status $status"
  grep -q '^crashed  *1;' stdout || failed "no crashed job in: $(<stdout)"
fi
expect 0 '' sweep many.yaml --db crashed.db
same_rows many.db crashed.db

### Full disk: committed rows are kept, and a run with space continues from them.
(ulimit -f 256 && exec "$attnvp" sweep many.yaml --db full.db) >stdout 2>stderr
[[ $? -eq 2 ]] && grep -q '^attnvp: full.db: cannot be written: ' stderr || failed "a limit on file sizes: $(<stderr)"
expect 0 '' sweep many.yaml --db full.db
same_rows many.db full.db
if unshare -rm true 2>/dev/null; then
  mkdir small
  unshare -rm bash -c 'mount -t tmpfs -o size=512k none small && cd small && "$1" sweep ../many.yaml; echo $? >../status
    sqlite3 many.db "PRAGMA integrity_check; SELECT count(*) FROM jobs" >../after' - "$attnvp" >stdout 2>stderr
  [[ $(<status) -eq 2 ]] && grep -q '^attnvp: many.db: cannot be written: no space left on device' stderr ||
    failed "a full disk: $(<stderr)"
  [[ $(head -1 after) == ok ]] || failed "a full disk damaged the database: $(<after)"
fi

# A read-only database, opened by another user, because root may write every file.
as=()
if [[ $EUID -eq 0 ]]; then as=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
mkdir read && cp many.db read/ && cp "$attnvp" program && cp -r "$configs" own && chmod -R a+rX . && chmod 444 read/many.db
if "${as[@]}" ./program --help >/dev/null 2>&1; then
  ATTNVP_CONFIGS=own "${as[@]}" ./program sweep many.yaml --db read/many.db >stdout 2>stderr
  [[ $? -eq 2 ]] && grep -q '^attnvp: read/many.db: cannot be written: it is read-only' stderr ||
    failed "a read-only database: $(<stderr)"
  same_rows many.db read/many.db
fi

[[ $failures -eq 0 ]] || { echo "$failures failures" >&2 && exit 1; }
