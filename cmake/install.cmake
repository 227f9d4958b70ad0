# cmake --install: the program, the float libraries, their headers, and what find_package(weft) and
# pkg-config read. The double twins stay behind.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

set(libraries ${weft_modules})
list(TRANSFORM libraries PREPEND weft_)
install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${libraries} weft_all EXPORT weft ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT weft NAMESPACE weft:: FILE weft-targets.cmake DESTINATION ${package})
install(DIRECTORY ${weft_include}/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.h)

configure_package_config_file(cmake/weft-config.cmake.in ${PROJECT_BINARY_DIR}/weft-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake
              ${PROJECT_BINARY_DIR}/weft-config-version.cmake DESTINATION ${package})

# The manual is printed by the program itself.
install(CODE "execute_process(
  COMMAND \"$<TARGET_FILE:weft>\" help --man-pages
          \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\"
  COMMAND_ERROR_IS_FATAL ANY)")

# Found from where the file itself is, since the prefix may be given when installing.
file(RELATIVE_PATH weft_up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
list(REVERSE libraries)
list(TRANSFORM libraries PREPEND -l)
string(REPLACE ";" " " weft_link "${libraries}")
if(weft_onednn)
  set(weft_link_onednn " -ldnnl -lgomp")
endif()
if(weft_mpi)
  set(weft_link_mpi " -lmpi")
endif()
if(weft_sentencepiece)
  set(weft_link_sentencepiece " -lsentencepiece -lsentencepiece_train")
endif()
configure_file(cmake/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
