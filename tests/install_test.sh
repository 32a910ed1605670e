#!/bin/bash
# An installation runs from any folder, and modules and firmware out of tree are built with it:
#   install_test.sh ATTNVP SOURCE_DIR BUILD_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"


build=$(realpath -- "$3")
root=$folder/root
command='cmake --install'
cmake --install "$build" --prefix "$root" >"$log/install" 2>&1 || failed "$(tail -3 "$log/install")"
mv "$root" "$folder/moved" && root=$folder/moved

attnvp=$root/bin/attnvp
done_well --version
[[ $(<"$log/stdout") =~ ^'AttnVP '[0-9]+\.[0-9]+\.[0-9]+$ ]] || failed "$(<"$log/stdout")"
done_well list hardware
done_well run "${small[@]}" --json -
holds '.golden.passed' "$log/stdout"
wrong "'nowhere' is not in $root/share/attnvp/configs/hardware" run --hw nowhere
for file in share/man/man1/attnvp.1 share/bash-completion/completions/attnvp share/doc/attnvp/copyright \
  share/doc/attnvp/CHANGELOG.md share/doc/attnvp/README.md share/attnvp/configs/hardware/edge.yaml; do
  [[ -s $root/$file ]] || failed "$file is missing"
done
if command -v man >/dev/null; then
  man --warnings -l "$root/share/man/man1/attnvp.1" >"$log/man" 2>"$log/stderr" </dev/null
  [[ -s $log/stderr ]] && failed "the man page: $(head -3 "$log/stderr")"
fi
command='completion'
words() { # WORD...: completions of the last one
  # shellcheck disable=SC1091
  PATH=$root/bin:$PATH bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _attnvp; printf "%s\n" "${COMPREPLY[@]}"' \
    "$root/share/bash-completion/completions/attnvp" attnvp "$@"
}
[[ $(words comp) == $'compare\ncompletion' ]] || failed "comp: $(words comp)"
[[ $(words run --timel) == --timeline ]] || failed "run --timel: $(words run --timel)"
[[ $(words run --hw edge-sm) == edge-small ]] || failed "run --hw edge-sm: $(words run --hw edge-sm)"
[[ $(words reproduce stre) == streaming ]] || failed "reproduce stre: $(words reproduce stre)"

# A module out of tree, built with CMake's files and with pkg-config's.
mkdir "$in/mine"
cat >"$in/mine/main.cpp" <<'CPP'
#include <cstdio>

#include "models/memory/memory.h"
#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "platform/workload/workload.h"

int sc_main(int, char**) {
  const attnvp::MachineConfig machine = attnvp::config::load_hardware("edge");
  attnvp::job::Runner runner(machine, attnvp::config::load_energy(machine.energy), false);
  attnvp::job::Schedule schedule = attnvp::job::parse_dataflow("mas");
  schedule.tiling = attnvp::job::parse_tiling("bb=1,hh=1,nq=16,nkv=16,m0=16,n0=16,k0=16,kv=2,rb=2");
  const auto result = runner.run(attnvp::workload::load("H=2,N=48,E=16"), schedule, nullptr, {});
  std::printf("%llu\n", static_cast<unsigned long long>(result.cycles));
  return 0;
}
int main(int argc, char** argv) { return sc_core::sc_elab_and_sim(argc, argv); }
CPP
cat >"$in/mine/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(mine CXX)
find_package(attnvp REQUIRED)
add_executable(mine main.cpp)
target_link_libraries(mine PRIVATE attnvp::attnvp)
CMAKE
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1
tiles=bb=1,hh=1,nq=16,nkv=16,m0=16,n0=16,k0=16,kv=2,rb=2
expected=$("$attnvp" run "${small[@]}" --tiling "$tiles" --data timing --json - | jq .cycles)
command='a program by find_package(attnvp)'
cmake -S "$in/mine" -B "$in/mine/build" -G Ninja -DCMAKE_PREFIX_PATH="$root" >"$log/cmake" 2>&1 &&
  cmake --build "$in/mine/build" >>"$log/cmake" 2>&1 || failed "$(tail -5 "$log/cmake")"
[[ $(ATTNVP_CONFIGS=$root/share/attnvp/configs "$in/mine/build/mine") == "$expected" ]] || failed 'other cycles'
command='a program by pkg-config'
export PKG_CONFIG_PATH=$root/lib/pkgconfig:$(echo "$root"/lib/*/pkgconfig)
# shellcheck disable=SC2046
g++ $(pkg-config --cflags attnvp) "$in/mine/main.cpp" -o "$in/mine/by-pkg-config" $(pkg-config --libs attnvp) 2>"$log/g++" ||
  failed "$(head -5 "$log/g++")"
[[ $(ATTNVP_CONFIGS=$root/share/attnvp/configs "$in/mine/by-pkg-config") == "$expected" ]] || failed 'other cycles'

# A moved source tree with its build tree, reduced to the files that the program needs.
mkdir -p "$in/tree/build/release/cli" && cp -r "$configs" "$in/tree/" && cp "$build/cli/attnvp" "$in/tree/build/release/cli/"
attnvp=$in/tree/build/release/cli/attnvp
wrong "'nowhere' is not in $in/tree/configs/hardware" run --hw nowhere

# The Debian package, unpacked into an empty folder.
if command -v dpkg-deb >/dev/null && command -v cpack >/dev/null; then
  command='cpack -G DEB'
  cpack --config "$build/CPackConfig.cmake" -G DEB -B "$in/package" >"$log/cpack" 2>&1 || failed "$(tail -5 "$log/cpack")"
  dpkg-deb -x "$in"/package/attnvp_*.deb "$in/debian" || failed 'the package'
  attnvp=$in/debian/usr/bin/attnvp
  done_well run "${small[@]}"
  wrong "'nowhere' is not in $in/debian/usr/share/attnvp/configs/hardware" run --hw nowhere
  dpkg-deb -f "$in"/package/attnvp_*.deb Depends | grep -q libsystemc || failed 'the package depends on nothing'
fi

finish
