# gatehouse_flags: warnings (errors in our code) and the sanitizer of the preset, for every target
# of ours. gatehouse_plain_flags: the same without a sanitizer, for the programs that run inside a
# sandbox, where a sanitizer's runtime cannot work.
set(GATEHOUSE_SANITIZER "" CACHE STRING "empty, address or thread")

add_library(gatehouse_plain_flags INTERFACE)
target_compile_options(gatehouse_plain_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror
  -Wno-maybe-uninitialized -Wno-restrict # g++ 12 invents these for std::variant when it optimises
  $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual>)
target_include_directories(gatehouse_plain_flags INTERFACE ${CMAKE_SOURCE_DIR})

# Where sources are compiled together (CMAKE_UNITY_BUILD), one object file holds several: what a program does not use of it is
# left out piece by piece instead of file by file. A local name may be that of another source's function, and a source's own
# types look like those of a header: the builds that compile each alone have these warnings.
set(_together $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
target_compile_options(gatehouse_plain_flags INTERFACE
  $<${_together}:-ffunction-sections> $<${_together}:-fdata-sections> $<${_together}:-Wno-shadow>
  $<$<AND:${_together},$<COMPILE_LANGUAGE:CXX>>:-Wno-subobject-linkage>)
target_link_options(gatehouse_plain_flags INTERFACE $<${_together}:-Wl,--gc-sections>)

# gatehouse_compile_alone(SOURCE...): never together with others, where sources are compiled together (CMAKE_UNITY_BUILD).
function(gatehouse_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# gatehouse_program: for the programs, which may run inside a boundary.
add_library(gatehouse_program INTERFACE)

add_library(gatehouse_flags INTERFACE)
target_link_libraries(gatehouse_flags INTERFACE gatehouse_plain_flags)
if(GATEHOUSE_SANITIZER STREQUAL "address")
  # CAF 0.17 does pointer arithmetic on null in one header: reported, not fatal (tests/support/ubsan.supp).
  target_compile_options(gatehouse_flags INTERFACE -fsanitize=address,undefined
    -fno-omit-frame-pointer -fno-sanitize-recover=undefined -fsanitize-recover=null)
  target_link_options(gatehouse_flags INTERFACE -fsanitize=address,undefined)
  target_sources(gatehouse_program INTERFACE ${CMAKE_SOURCE_DIR}/sandbox/sanitizer_hooks.cpp)
elseif(GATEHOUSE_SANITIZER STREQUAL "thread")
  target_compile_options(gatehouse_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer
    -Wno-tsan) # Asio uses atomic_thread_fence
  target_link_options(gatehouse_flags INTERFACE -fsanitize=thread)
  target_sources(gatehouse_program INTERFACE ${CMAKE_SOURCE_DIR}/sandbox/thread_sanitizer_hooks.cpp)
elseif(NOT GATEHOUSE_SANITIZER STREQUAL "")
  message(FATAL_ERROR "GATEHOUSE_SANITIZER must be empty, address or thread, not '${GATEHOUSE_SANITIZER}'")
endif()

option(GATEHOUSE_FUZZER "link fuzz targets with libFuzzer; needs clang (scripts/fuzz)" OFF)
if(GATEHOUSE_FUZZER)
  # The warnings that count are those of the compiler that builds what people run.
  target_compile_options(gatehouse_flags INTERFACE -fsanitize=fuzzer-no-link -w)
endif()
