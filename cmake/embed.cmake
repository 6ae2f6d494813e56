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
