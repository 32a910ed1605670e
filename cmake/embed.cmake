# Files as C++ strings: cmake -DOUT=x.cpp -DNAMESPACE=a::b "-DFILES=name=path;..." -P embed.cmake
set(text "#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
foreach(entry IN LISTS FILES)
  string(REGEX MATCH "^([^=]+)=(.*)$" _ "${entry}")
  set(name ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "static const unsigned char ${name}_bytes[] = {${bytes}};\n"
    "extern const std::string_view ${name};\n"
    "const std::string_view ${name}{reinterpret_cast<const char*>(${name}_bytes), ${size}};\n")
endforeach()
file(WRITE "${OUT}" "${text}}  // namespace ${NAMESPACE}\n")
