# One interface target carries the project's warnings; headers of other libraries are SYSTEM.
add_library(attnvp_warnings INTERFACE)
target_compile_options(attnvp_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-restrict) # GCC 12 reports std::string's operator+ in C++20 (its bug 105651)
if(ATTNVP_WERROR)
  target_compile_options(attnvp_warnings INTERFACE -Werror)
endif()
# Equal roundings on every host: no contraction of a*b+c outside the kernels that request it.
target_compile_options(attnvp_warnings INTERFACE -ffp-contract=off)
target_include_directories(attnvp_warnings INTERFACE ${PROJECT_SOURCE_DIR})
