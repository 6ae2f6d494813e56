# Flags for our own code only: they are never handed on to whoever links the installed library.
add_library(holdfast_flags INTERFACE)
target_compile_options(holdfast_flags INTERFACE -Wall -Wextra -Werror)
target_compile_features(holdfast_flags INTERFACE cxx_std_23)

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Precompiled headers that ccache can keep.
  target_compile_options(holdfast_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
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
if(HOLDFAST_SANITIZE)
  add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
  # An empty optional or an index out of range ends the test, as a bad address does.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

option(HOLDFAST_COVERAGE "instrument for llvm-cov" OFF)
if(HOLDFAST_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
