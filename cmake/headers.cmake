# The headers as consumers see them: under weft/, with #include "weft/core/error.h" where the tree
# itself says #include "core/error.h", so that a consumer's include path gains nothing but weft/.
# Written into the build tree, whence they are also installed; rewritten when a header changes.
set(weft_include ${PROJECT_BINARY_DIR}/include)
set(weft_modules core autograd layers optim data experiments)
list(TRANSFORM weft_modules REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.h" OUTPUT_VARIABLE patterns)
file(GLOB_RECURSE weft_public CONFIGURE_DEPENDS ${patterns})
list(APPEND weft_public ${PROJECT_SOURCE_DIR}/weft.h)

set(stamp ${PROJECT_BINARY_DIR}/include/weft.stamp)
add_custom_command(
  OUTPUT ${stamp}
  COMMAND ${CMAKE_COMMAND} -D FROM=${PROJECT_SOURCE_DIR} -D TO=${weft_include}/weft
          "-D MODULES=${weft_modules}" -P ${PROJECT_SOURCE_DIR}/cmake/prefix_headers.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
  DEPENDS ${weft_public} ${PROJECT_SOURCE_DIR}/cmake/prefix_headers.cmake
  COMMENT "Writing the headers of consumers" VERBATIM)
add_custom_target(weft_headers DEPENDS ${stamp})
