# holdfast_dashboard(<room>): web/ bundled, compressed and compiled into a room, which tells of it by
# src/http/assets.hpp. web/build.mjs does the work, with esbuild of node_modules.
function(holdfast_dashboard room)
  find_program(HOLDFAST_NODE node)
  if(NOT HOLDFAST_NODE)
    message(FATAL_ERROR "The dashboard is bundled by node, and there is none on the path. "
      "scripts/install brings it, and all else that scripts/packages.txt names.")
  endif()
  set(web ${PROJECT_SOURCE_DIR}/web)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.tsx ${web}/src/*.css)
  list(FILTER sources EXCLUDE REGEX "_test\\.ts$")
  set(made ${CMAKE_CURRENT_BINARY_DIR}/embedded/${room}_dashboard.cpp)
  add_custom_command(OUTPUT ${made}
    COMMAND ${HOLDFAST_NODE} ${web}/build.mjs ${CMAKE_CURRENT_BINARY_DIR}/dashboard ${made}
    DEPENDS ${sources} ${web}/build.mjs ${web}/index.html ${web}/icon.svg ${PROJECT_SOURCE_DIR}/package-lock.json
    COMMENT "Bundling the dashboard" VERBATIM)
  target_sources(holdfast_${room} PRIVATE ${made})
endfunction()
