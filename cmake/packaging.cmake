# cmake --install and the Debian package (scripts/package). The programs stand together in a folder of their own, because
# they find one another beside themselves; what people type is a link to one of them.
include(GNUInstallDirs)
set(_programs ${CMAKE_INSTALL_LIBDIR}/gatehouse)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(_programs lib/gatehouse) # Debian keeps programs out of the folders of one architecture
endif()

install(TARGETS gatehouse gatehouse-host gatehouse-sandbox gatehouse-sandbox-init gatehouse-sandbox-patch
  RUNTIME DESTINATION ${_programs})
file(RELATIVE_PATH _link ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_PREFIX}/${_programs}/gatehouse)
install(CODE "
  set(_bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  file(MAKE_DIRECTORY \"\${_bin}\")
  file(CREATE_LINK ${_link} \"\${_bin}/gatehouse\" SYMBOLIC)")
# Manual pages and completions are what the program itself says.
install(CODE "
  set(_share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
  file(MAKE_DIRECTORY \"\${_share}/man/man1\")
  execute_process(COMMAND $<TARGET_FILE:gatehouse> man --all \"\${_share}/man/man1\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(_place bash=bash-completion/completions/gatehouse zsh=zsh/vendor-completions/_gatehouse
      fish=fish/vendor_completions.d/gatehouse.fish)
    string(REGEX MATCH \"^[a-z]+\" _shell \"\${_place}\")
    string(REGEX REPLACE \"^[a-z]+=\" \"\" _place \"\${_place}\")
    get_filename_component(_folder \"\${_share}/\${_place}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${_folder}\")
    execute_process(COMMAND $<TARGET_FILE:gatehouse> completions \${_shell}
      OUTPUT_FILE \"\${_share}/\${_place}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(FILES packaging/gatehouse.service DESTINATION lib/systemd/user)
# As in the source tree, so that README's links and pictures hold.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png"
  PATTERN "llms.txt")
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gatehouse)
set(CPACK_PACKAGE_CONTACT "The Gatehouse developers <gatehouse@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "gate between coding agents and this machine")
set(CPACK_PACKAGE_DESCRIPTION "Decides which proposed commands, terminal sessions, patches and connections of a coding
agent become real, asks a person where one is due, runs them in a boundary that the kernel enforces, and explains every
answer.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS bubblewrap)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS git)
include(CPack)
