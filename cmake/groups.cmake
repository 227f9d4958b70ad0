# weft_group(TARGET SOURCE...) compiles up to eight sources of one folder together, as one translation
# unit: most of the time that a source takes is spent on its headers. That nearly halves the time of a
# full build; after an edit the group of the file is compiled again. -DWEFT_GROUPS=OFF compiles each
# source by itself, as the preset dev does. Sources with options of their own always are.
#
# Sources of one folder therefore do not give two things the same name, not even in unnamed namespaces.
# Tests, each of which has a namespace of its own, are grouped by tests/CMakeLists.txt.
option(WEFT_GROUPS "Compile sources of one folder together" ON)

function(weft_group target)
  if(NOT WEFT_GROUPS)
    return()
  endif()
  set(sources ${ARGN})
  list(SORT sources)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / 8")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
