# Flags for our own code only: they are never handed on to whoever links the installed library.
add_library(holdfast_flags INTERFACE)
target_compile_options(holdfast_flags INTERFACE -Wall -Wextra -Werror)
target_compile_features(holdfast_flags INTERFACE cxx_std_23)

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Precompiled headers that ccache can keep.
  target_compile_options(holdfast_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()

if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ takes the files of a unity build for headers, whose types should not use anonymous namespaces.
  target_compile_options(holdfast_flags INTERFACE -Wno-subobject-linkage)
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # For holdfast_slim().
  target_compile_options(holdfast_flags INTERFACE -ffunction-sections -fdata-sections)
endif()

# holdfast_slim(<program>): a release without what nobody calls and what is there twice, and with short
# relocations: all of it is memory of each worker.
function(holdfast_slim program)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # and so lld
    target_link_options(${program} PRIVATE LINKER:--gc-sections LINKER:--icf=safe
      LINKER:-z,pack-relative-relocs)
  endif()
endfunction()

set(HOLDFAST_SANITIZE "" CACHE STRING "sanitizers, as -fsanitize takes them")
set(HOLDFAST_SANITIZE_IGNORELIST "" CACHE STRING "a file of the tree that says what they leave alone")
if(HOLDFAST_SANITIZE)
  add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
  if(HOLDFAST_SANITIZE_IGNORELIST)
    add_compile_options(-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/${HOLDFAST_SANITIZE_IGNORELIST})
  endif()
  # An empty optional or an index out of range ends the test, as a bad address does.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

set(HOLDFAST_COVERAGE "" CACHE STRING "modules whose lines are counted for llvm-cov: a list, or all")

# holdfast_count_lines(<target> <module>): instruments a target if its module is one of HOLDFAST_COVERAGE. A
# program writes its counts only where LLVM_PROFILE_FILE is set: most runs are not about coverage.
function(holdfast_count_lines target module)
  if(HOLDFAST_COVERAGE STREQUAL "all" OR module IN_LIST HOLDFAST_COVERAGE)
    target_compile_options(${target} PRIVATE -fprofile-instr-generate=/dev/null -fcoverage-mapping)
    target_link_options(${target} PUBLIC -fprofile-instr-generate)
  endif()
endfunction()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
