# Writes a header with the commit of the sources, or "unknown" where there is none, unless the header
# says so already:  cmake -D FROM=SOURCES -D TO=HEADER -P commit.cmake
execute_process(COMMAND git -C ${FROM} describe --always --dirty --abbrev=10 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE fault
                ERROR_QUIET)
if(NOT fault EQUAL 0)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${TO} CONTENT "#define WEFT_COMMIT \"@commit@\"\n" @ONLY)
