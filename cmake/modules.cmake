# weft_module(NAME DEPENDS other... LIBRARIES target... HEADERS_OF target... PRECOMPILED <header>...)
# Builds the folder NAME as two static libraries: weft_NAME with Real = float, the product, which
# consumers link as weft::NAME, and weft_NAME_f64 with Real = double, which only tests and golden
# cases link. A source file is picked up by being there; main.cpp belongs to the program, not to its
# module. LIBRARIES are linked; of HEADERS_OF only the headers are used, so that no consumer needs
# them. PRECOMPILED headers are parsed once for all of its sources, which include them all the same.
function(weft_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES;HEADERS_OF;PRECOMPILED" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/(simd/kernels|simd/product|main)\\.cpp$")
  foreach(suffix "" _f64)
    set(target weft_${name}${suffix})
    add_library(${target} STATIC ${sources})
    weft_group(${target} ${sources})
    add_dependencies(${target} weft_headers)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${weft_include}>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} $<BUILD_INTERFACE:weft_flags>)
    foreach(library ${arg_HEADERS_OF})
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
    endforeach()
    target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <span> <string>
                              <vector> ${arg_PRECOMPILED})
    foreach(dependency ${arg_DEPENDS})
      target_link_libraries(${target} PUBLIC weft_${dependency}${suffix})
    endforeach()
    if(EXISTS ${PROJECT_SOURCE_DIR}/${name}/simd/kernels.cpp)
      weft_simd(${target} ${PROJECT_SOURCE_DIR}/${name}/simd "${suffix}")
    endif()
  endforeach()
  target_compile_definitions(weft_${name}_f64 PUBLIC WEFT_DOUBLE)
  set_target_properties(weft_${name}_f64 PROPERTIES EXCLUDE_FROM_ALL TRUE)
  set_target_properties(weft_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(weft::${name} ALIAS weft_${name})
endfunction()

# Compiles the vector kernels once for each instruction set, and matrix products for AVX-512; the library
# chooses at run time.
function(weft_simd target folder suffix)
  set(isas baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND isas avx2 avx512)
    set(sources_avx512 ${folder}/product.cpp)
    set(flags_avx2 -mavx2 -mfma)
    set(flags_avx512 -mavx2 -mfma -mavx512f -mavx512cd -mavx512dq -mavx512bw -mavx512vl
        -mprefer-vector-width=512
        # GCC 12 reports its own AVX-512 intrinsics as uninitialised (GCC bug 105593).
        -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
  foreach(isa ${isas})
    set(object ${target}_${isa})
    add_library(${object} OBJECT EXCLUDE_FROM_ALL ${folder}/kernels.cpp ${sources_${isa}})
    target_link_libraries(${object} PRIVATE weft_flags xsimd)
    target_compile_options(${object} PRIVATE ${flags_${isa}})
    target_compile_definitions(${object} PRIVATE WEFT_SIMD=${isa} $<$<BOOL:${suffix}>:WEFT_DOUBLE>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
    string(TOUPPER ${isa} upper)
    target_compile_definitions(${target} PRIVATE WEFT_HAS_${upper})
  endforeach()
endfunction()
