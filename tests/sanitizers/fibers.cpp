// SystemC's coroutines for AddressSanitizer; linked into every program of a build with it, and not instrumented itself.
//
// libsystemc 2.3.4 announces switches between its QuickThreads stacks, but not whose stack sc_main runs on, not the
// switch away from a coroutine that ends, and keeps no fake stacks. Without that, stacks are not unpoisoned when
// something is thrown, and frames that are long gone raise alarms. All of it goes through symbols that a program may
// define instead of the library; the library's own are called from here.
#include <dlfcn.h>
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <cstddef>
#include <map>

// sc_core::sc_cor_pkg_qt, whose header is not installed.
#define CREATE "_ZN7sc_core13sc_cor_pkg_qt6createEmPFvPvES1_"
#define ABORT "_ZN7sc_core13sc_cor_pkg_qt5abortEPNS_6sc_corE"

namespace {

struct Coroutine {  // as sc_core::sc_cor_qt begins
  void* virtual_functions;
  std::size_t stack_bytes;
  void* stack;
};

struct Stack {
  void* bottom = nullptr;
  std::size_t bytes = 0;
};

Stack main_stack() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  pthread_attr_getstack(&attributes, &stack.bottom, &stack.bytes);
  pthread_attr_destroy(&attributes);
  return stack;
}

template <typename Function>
Function* in_library(Function* /*like*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

const void* running = nullptr;  // the stack in use; null: sc_main's, as SystemC says it
bool ends = false;              // its coroutine, with the switch that comes

// Of each stack that is not in use: where ASan keeps frames that may be used after their return.
std::map<const void*, void*>& fake_stacks() {
  static std::map<const void*, void*> all;
  return all;
}

}  // namespace

extern "C" {

Coroutine* attnvp_create(void* package, std::size_t bytes, void (*body)(void*), void* argument) asm(CREATE);
void attnvp_abort(void* package, Coroutine* to) asm(ABORT);
void* sc_cor_qt_aborthelp(void*, void*, void*);

// SystemC itself leaks; ASAN_OPTIONS may say otherwise.
const char* __asan_default_options() { return "detect_leaks=0:detect_stack_use_after_return=1"; }

void __sanitizer_start_switch_fiber(void** /*fake: none*/, const void* bottom, std::size_t bytes) {
  static const auto original = in_library(&__sanitizer_start_switch_fiber, "__sanitizer_start_switch_fiber");
  static const Stack main = main_stack();
  original(ends ? nullptr : &fake_stacks()[running], bottom != nullptr ? bottom : main.bottom,
           bottom != nullptr ? bytes : main.bytes);
  running = bottom;
  ends = false;
}

void __sanitizer_finish_switch_fiber(void* /*fake: none*/, const void** bottom, std::size_t* bytes) {
  static const auto original = in_library(&__sanitizer_finish_switch_fiber, "__sanitizer_finish_switch_fiber");
  original(fake_stacks()[running], bottom, bytes);
}

Coroutine* attnvp_create(void* package, std::size_t bytes, void (*body)(void*), void* argument) {
  static const auto original = in_library(&attnvp_create, CREATE);
  Coroutine* made = original(package, bytes, body, argument);
  fake_stacks().erase(made->stack);  // of one that was there before
  __asan_unpoison_memory_region(made->stack, made->stack_bytes);
  return made;
}

void attnvp_abort(void* package, Coroutine* to) {
  static const auto original = in_library(&attnvp_abort, ABORT);
  ends = true;
  __sanitizer_start_switch_fiber(nullptr, to->stack, to->stack_bytes);
  original(package, to);
}

void* sc_cor_qt_aborthelp(void* /*stack*/, void* /*ended*/, void* /*none*/) {  // on the stack of who goes on
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
  return nullptr;
}

}  // extern "C"
