# End-to-end tests in bash: the command line, and the commands of README.md.
add_test(NAME CommandLine
  COMMAND ${PROJECT_SOURCE_DIR}/tests/cli_test.sh $<TARGET_FILE:attnvp> ${PROJECT_SOURCE_DIR})
add_test(NAME Readme
  COMMAND ${PROJECT_SOURCE_DIR}/tests/readme_test.sh $<TARGET_FILE:attnvp> ${PROJECT_SOURCE_DIR})
set_tests_properties(CommandLine Readme PROPERTIES TIMEOUT 900)

# What runs leave to look at; with real GTKWave and a browser in the long run.
add_test(NAME Traces
  COMMAND ${PROJECT_SOURCE_DIR}/tests/trace_test.sh $<TARGET_FILE:attnvp> ${PROJECT_SOURCE_DIR})
add_test(NAME Look
  COMMAND ${PROJECT_SOURCE_DIR}/tests/look_test.sh $<TARGET_FILE:attnvp> ${PROJECT_SOURCE_DIR})
set_tests_properties(Traces PROPERTIES TIMEOUT 300)
set_tests_properties(Look PROPERTIES TIMEOUT 600 LABELS long)
