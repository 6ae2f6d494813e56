# A room is a folder below src/ that becomes one static library, `holdfast_<room>`. Its unit tests
# (*_test.cpp) stand beside their sources and become one program, `<room>_test`. For a room within a
# room (stores/sqlite) the slash becomes an underscore in these names.

# holdfast_room(<room> [PUBLIC libs…] [PRIVATE libs…])
function(holdfast_room room)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
  string(REPLACE "/" "_" room ${room})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    add_library(holdfast_${room} INTERFACE)
    target_link_libraries(holdfast_${room} INTERFACE ${ARG_PUBLIC})
    return()
  endif()
  add_library(holdfast_${room} STATIC ${sources})
  add_library(holdfast::${room} ALIAS holdfast_${room})
  set_target_properties(holdfast_${room} PROPERTIES EXPORT_NAME ${room})
  target_include_directories(holdfast_${room}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # The public headers are C++23, so who links us compiles as such.
  target_compile_features(holdfast_${room} PUBLIC cxx_std_23)
  target_link_libraries(holdfast_${room} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE}
    $<BUILD_INTERFACE:holdfast_flags>)
  holdfast_precompile(holdfast_${room} pch.hpp)
  holdfast_count_lines(holdfast_${room} ${room})
endfunction()

# holdfast_precompile(<target> <header of cmake/>): a unity build has too few files in a target to gain by it.
function(holdfast_precompile target header)
  if(NOT CMAKE_UNITY_BUILD)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header})
  endif()
endfunction()

# All programs whose cases cross threads; the tsan stage builds only these.
add_custom_target(threads_tests)

# holdfast_test(<name> SOURCES … [LIBS …] LABEL <label>): one gtest program, run whole as one entry of ctest.
function(holdfast_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LIBS" ${ARGN})
  holdfast_test_program(${name} SOURCES ${ARG_SOURCES} LIBS ${ARG_LIBS} LABEL ${ARG_LABEL})
  holdfast_add_gtest(${name} LABEL ${ARG_LABEL} COMMAND $<TARGET_FILE:${name}>)
endfunction()

# holdfast_test_program(<name> SOURCES … [LIBS …] LABEL <label>): a gtest program; who calls says how it is run.
function(holdfast_test_program name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE HOLDFAST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} holdfast_flags GTest::gmock GTest::gtest_main rapidcheck)
  holdfast_precompile(${name} test_pch.hpp)
  if(ARG_LABEL STREQUAL "threads")
    add_dependencies(threads_tests ${name})
  endif()
endfunction()

# holdfast_add_gtest(<name> LABEL <label> COMMAND <program…>): an entry of ctest. The program is the
# last word of its command; a command in front of it may start a server for it.
function(holdfast_add_gtest name)
  cmake_parse_arguments(ARG "" "LABEL" "COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/runner/gtest_run.py
    --name ${name} -- ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL})
endfunction()

# holdfast_room_tests(<room> [LIBS …]): <room>_test from src/<room>/*_test.cpp, and
# <room>_threads_test from *_threads_test.cpp, which the tsan preset runs.
function(holdfast_room_tests room)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  file(GLOB plain CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*_test.cpp)
  string(REPLACE "/" "_" room ${room})
  set(threaded ${plain})
  list(FILTER threaded INCLUDE REGEX "_threads_test\\.cpp$")
  list(FILTER plain EXCLUDE REGEX "_threads_test\\.cpp$")
  if(plain)
    holdfast_test(${room}_test SOURCES ${plain} LIBS holdfast_${room} ${ARG_LIBS} LABEL ${room})
    holdfast_count_lines(${room}_test ${room})
    if(room IN_LIST HOLDFAST_COVERAGE)  # for the gates of scripts/coverage
      set_tests_properties(${room}_test PROPERTIES
        ENVIRONMENT LLVM_PROFILE_FILE=${PROJECT_BINARY_DIR}/profiles/${room}_test.profraw)
    endif()
  endif()
  if(threaded)
    holdfast_test(${room}_threads_test SOURCES ${threaded} LIBS holdfast_${room} ${ARG_LIBS}
      LABEL threads)
  endif()
endfunction()
