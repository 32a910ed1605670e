# End-to-end tests in bash: each takes the program and the source folder.
function(attnvp_script name script)
  cmake_parse_arguments(ARG "" "TIMEOUT;LABEL" "ARGUMENTS" ${ARGN})
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/${script} $<TARGET_FILE:attnvp> ${PROJECT_SOURCE_DIR} ${ARG_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABEL}" SKIP_RETURN_CODE 77 COST 20) # early: they take long
endfunction()

attnvp_script(CommandLine cli_test.sh TIMEOUT 900)
attnvp_script(Runs runs_test.sh TIMEOUT 900)
attnvp_script(SideBySide beside_test.sh TIMEOUT 300)
attnvp_script(Outputs outputs_test.sh TIMEOUT 900)
attnvp_script(Inputs inputs_test.sh TIMEOUT 900)
attnvp_script(Accelergy accelergy_test.sh TIMEOUT 300)
attnvp_script(Limits limits_test.sh TIMEOUT 900)
attnvp_script(Install install_test.sh TIMEOUT 600 ARGUMENTS ${PROJECT_BINARY_DIR})
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/docs/*.md)
list(APPEND pages README.md configs/README.md)
foreach(page IN LISTS pages) # their commands and links
  attnvp_script(Readme.${page} readme_test.sh TIMEOUT 900 ARGUMENTS ${page})
endforeach()
attnvp_script(Documentation docs_test.sh TIMEOUT 120) # links and anchors
add_test(NAME Documents COMMAND ${PROJECT_SOURCE_DIR}/tests/docs_lint.py ${PROJECT_SOURCE_DIR}) # their language, as ./vp lint
add_test(NAME Comments COMMAND ${PROJECT_SOURCE_DIR}/tests/comments_lint.py ${PROJECT_SOURCE_DIR})
add_test(NAME Names COMMAND ${PROJECT_SOURCE_DIR}/tests/names_lint.py ${PROJECT_SOURCE_DIR}) # of types
add_test(NAME Messages COMMAND ${PROJECT_SOURCE_DIR}/tests/messages_lint.py ${PROJECT_SOURCE_DIR})
attnvp_script(Script vp_test.sh TIMEOUT 600) # vp itself
attnvp_script(RiscvPrograms riscv_test.sh TIMEOUT 300) # ATTNVP_RISCV_TESTS: a checkout of the public tests
attnvp_script(Firmware firmware_test.sh TIMEOUT 600) # out of tree, with the debugger
attnvp_script(FirmwareHaltedOften firmware_test.sh TIMEOUT 900 LABEL long ARGUMENTS 1000)
attnvp_script(Sweep sweep_test.sh TIMEOUT 900)
attnvp_script(SweepStopped sweep_stopped_test.sh TIMEOUT 900)
attnvp_script(SweepKilledOften sweep_stopped_test.sh TIMEOUT 900 LABEL long ARGUMENTS 20)
attnvp_script(FuzzRegress fuzz/regress.sh TIMEOUT 600) # inputs that were findings once, and a few new ones
attnvp_script(Valgrind sanitizers/valgrind.sh TIMEOUT 1800 LABEL long) # where it is installed
attnvp_script(Plugin plugin_test.sh TIMEOUT 300 ARGUMENTS $<TARGET_FILE_DIR:plugin_modes>)
attnvp_script(Serve serve_test.py TIMEOUT 600) # without a browser
attnvp_script(Validate validate_test.sh TIMEOUT 300)
attnvp_script(SweepUnderSlurm slurm_test.sh TIMEOUT 900 LABEL long)

# A new kind of module is one new folder.
add_test(NAME NewKind
  COMMAND ${PROJECT_SOURCE_DIR}/tests/new_kind_test.sh $<TARGET_FILE:attnvp> ${PROJECT_SOURCE_DIR} ${CMAKE_BUILD_TYPE})
set_tests_properties(NewKind PROPERTIES TIMEOUT 1800 COST 90)
# A new operation, element type and kind of mask are a few lines; all of the copy is compiled anew.
add_test(NAME NewFact
  COMMAND ${PROJECT_SOURCE_DIR}/tests/new_fact_test.sh $<TARGET_FILE:attnvp> ${PROJECT_SOURCE_DIR} ${CMAKE_BUILD_TYPE})
set_tests_properties(NewFact PROPERTIES TIMEOUT 3600 LABELS long)
set_tests_properties(Install PROPERTIES COST 80)

# What runs leave to look at; with real GTKWave and a browser in the long run.
attnvp_script(Traces trace_test.sh TIMEOUT 300)
attnvp_script(Look look_test.sh TIMEOUT 600 LABEL long)
attnvp_script(Pages pages_test.sh TIMEOUT 600 LABEL long)
attnvp_script(ServePage serve_page_test.py TIMEOUT 900 LABEL long)
