# What bounds a test that hangs. Sanitized programs need several times as long.
set(GATEHOUSE_TEST_SECONDS 300)
if(GATEHOUSE_SANITIZER)
  set(GATEHOUSE_TEST_SECONDS 1200)
endif()

# gatehouse_add_tests(FOLDER LIB...): one test program for tests/FOLDER, one ctest entry per file
# (`FOLDER.name` for tests/FOLDER/name_test.cpp), so that a failure names its file.
function(gatehouse_add_tests folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" program "test_${folder}")
  add_executable(${program} ${sources})
  set_target_properties(${program} PROPERTIES UNITY_BUILD OFF) # their sources share names
  target_link_libraries(${program} PRIVATE gatehouse_test_main ${ARGN})
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    string(REPLACE "_test.cpp" "" name ${name})
    string(REPLACE "/" "." entry "${folder}.${name}")
    add_test(NAME ${entry} COMMAND ${program} --source-file=*/${folder}/${name}_test.cpp --no-skipped-summary)
    set_tests_properties(${entry} PROPERTIES TIMEOUT ${GATEHOUSE_TEST_SECONDS} LABELS ${folder}
      ENVIRONMENT "GATEHOUSE_BUILD_DIR=${CMAKE_BINARY_DIR};GATEHOUSE_SOURCE_DIR=${CMAKE_SOURCE_DIR};GATEHOUSE_SANITIZER=${GATEHOUSE_SANITIZER};UBSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/ubsan.supp:print_stacktrace=1;TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")
  endforeach()
endfunction()

# gatehouse_add_script_test(NAME COMMAND...): a black-box test of the built programs. GATEHOUSE_SANITIZER tells it that
# they carry a sanitizer, whose memory and descriptors are not the program's.
function(gatehouse_add_script_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${GATEHOUSE_TEST_SECONDS} LABELS system
    ENVIRONMENT "GATEHOUSE_BUILD_DIR=${CMAKE_BINARY_DIR};GATEHOUSE_SOURCE_DIR=${CMAKE_SOURCE_DIR};GATEHOUSE_SANITIZER=${GATEHOUSE_SANITIZER};PYTHONDONTWRITEBYTECODE=1")
endfunction()

# gatehouse_add_fuzz_targets(LIB...): a program fuzz_NAME for each tests/fuzz/NAME_fuzz.cpp. With
# libFuzzer it is a fuzzer; else it runs over tests/fuzz/corpus/NAME as ctest fuzz.NAME.
function(gatehouse_add_fuzz_targets)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    string(REPLACE "_fuzz.cpp" "" name ${name})
    add_executable(fuzz_${name} ${source})
    set_target_properties(fuzz_${name} PROPERTIES UNITY_BUILD OFF)
    target_link_libraries(fuzz_${name} PRIVATE gatehouse_flags ${ARGN})
    if(GATEHOUSE_FUZZER)
      target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    else()
      target_sources(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/run_corpus.cpp)
      add_test(NAME fuzz.${name} COMMAND fuzz_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
      set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT ${GATEHOUSE_TEST_SECONDS} LABELS fuzz)
    endif()
  endforeach()
endfunction()
