# holdfast_embed(<room> <name> <file>): the text of a file, compiled into a room. It is declared as
#   extern const std::string_view <name>;   // in namespace holdfast::<room>
# by whoever uses it. @PROJECT_VERSION@ in the file is replaced.
function(holdfast_embed room name file)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${room}_${name}.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(CONFIGURE "${text}" text @ONLY)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
#include <string_view>

namespace holdfast::@room@ {

extern const std::string_view @name@;
const std::string_view @name@ = R"holdfast(@text@)holdfast";

}  // namespace holdfast::@room@
]=])
  target_sources(holdfast_${room} PRIVATE ${source})
endfunction()

# holdfast_embed_script(<name>): lua/<name>.lua of the store on Redis, as kName ("claim_these":
# kClaimThese).
function(holdfast_embed_script name)
  string(REPLACE "_" ";" words ${name})
  set(constant k)
  foreach(word ${words})
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND constant ${first}${rest})
  endforeach()
  holdfast_embed(stores_redis ${constant} ${PROJECT_SOURCE_DIR}/src/stores/redis/lua/${name}.lua)
endfunction()
