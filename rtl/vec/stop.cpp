// Verilator's stop function: a failing assertion in the RTL throws instead of ending the program.
#include <verilated.h>

#include <stdexcept>
#include <string>

void vl_stop(const char* file, int line, const char* module) {
  throw std::logic_error(std::string("RTL assertion failed in ") + module + ", " + file + ":" + std::to_string(line));
}
