# weft_module(NAME DEPENDS other... LIBRARIES target... PRECOMPILED <header>...)
# Builds the folder NAME as two static libraries: NAME with Real = float, the product, and NAME_f64
# with Real = double, which only tests and golden cases link. A source file is picked up by being
# there; main.cpp belongs to the program, not to its module. PRECOMPILED headers are parsed once for
# all of its sources, which include them all the same.
function(weft_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES;PRECOMPILED" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/(simd/kernels|main)\\.cpp$")
  foreach(target ${name} ${name}_f64)
    string(REPLACE ${name} "" suffix ${target})
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(${target} PUBLIC weft_flags ${arg_LIBRARIES})
    target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <span> <string>
                              <vector> ${arg_PRECOMPILED})
    foreach(dependency ${arg_DEPENDS})
      target_link_libraries(${target} PUBLIC ${dependency}${suffix})
    endforeach()
    if(suffix)
      target_compile_definitions(${target} PUBLIC WEFT_DOUBLE)
    endif()
    if(EXISTS ${CMAKE_SOURCE_DIR}/${name}/simd/kernels.cpp)
      weft_simd(${target} ${CMAKE_SOURCE_DIR}/${name}/simd/kernels.cpp "${suffix}")
    endif()
  endforeach()
endfunction()

# Compiles the vector kernels once for each instruction set; the library chooses at run time.
function(weft_simd target source suffix)
  set(isas baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND isas avx2 avx512)
    set(flags_avx2 -mavx2 -mfma)
    set(flags_avx512 -mavx2 -mfma -mavx512f -mavx512cd -mavx512dq -mavx512bw -mavx512vl
        -mprefer-vector-width=512
        # GCC 12 reports its own AVX-512 intrinsics as uninitialised (GCC bug 105593).
        -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
  foreach(isa ${isas})
    set(object ${target}_${isa})
    add_library(${object} OBJECT EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${object} PRIVATE weft_flags xsimd)
    target_compile_options(${object} PRIVATE ${flags_${isa}})
    target_compile_definitions(${object} PRIVATE WEFT_SIMD=${isa} $<$<BOOL:${suffix}>:WEFT_DOUBLE>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
    string(TOUPPER ${isa} upper)
    target_compile_definitions(${target} PRIVATE WEFT_HAS_${upper})
  endforeach()
endfunction()
