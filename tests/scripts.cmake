# End-to-end tests in bash: the command line, and the commands of README.md.
add_test(NAME CommandLine
  COMMAND ${PROJECT_SOURCE_DIR}/tests/cli_test.sh $<TARGET_FILE:attnvp> ${PROJECT_SOURCE_DIR})
add_test(NAME Readme
  COMMAND ${PROJECT_SOURCE_DIR}/tests/readme_test.sh $<TARGET_FILE:attnvp> ${PROJECT_SOURCE_DIR})
set_tests_properties(CommandLine Readme PROPERTIES TIMEOUT 900)
