# Announces SystemC's coroutine stacks to AddressSanitizer. Object files, because a linker may drop members of archives.
if(CMAKE_CXX_FLAGS MATCHES "sanitize=address")
  add_library(attnvp_fibers OBJECT ${PROJECT_SOURCE_DIR}/tests/sanitizers/fibers.cpp)
  target_compile_options(attnvp_fibers PRIVATE -fno-sanitize=all)
  target_link_libraries(attnvp_models INTERFACE $<TARGET_OBJECTS:attnvp_fibers>)
endif()
