# Writes a header with a hash of sources: cmake -DROOT=... -DFILES="a;b" -DOUTPUT=... -P fingerprint.cmake
# Stored results carry it, so that results of another version are not used.
set(all "")
foreach(file IN LISTS FILES)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 all "${all}")
string(SUBSTRING ${all} 0 16 short)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define ATTNVP_SIMULATOR_FINGERPRINT \"${short}\"\n")
