# Everything Gatehouse takes from the system, pinned by least or exact version. scripts/setup installs it.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.81.0 EXACT REQUIRED CONFIG) # headers only

# CAF ships no CMake package.
find_path(CAF_INCLUDE_DIR caf/all.hpp REQUIRED)
file(STRINGS "${CAF_INCLUDE_DIR}/caf/config.hpp" _caf_version REGEX "^#define CAF_VERSION [0-9]+$")
string(REGEX MATCH "[0-9]+$" _caf_version "${_caf_version}")
if(NOT _caf_version EQUAL 1706)
  message(FATAL_ERROR "Gatehouse needs CAF 0.17.6, found CAF_VERSION ${_caf_version}. Run scripts/setup.")
endif()
find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
add_library(CAF::core SHARED IMPORTED)
set_target_properties(CAF::core PROPERTIES
  IMPORTED_LOCATION "${CAF_CORE_LIBRARY}" INTERFACE_LINK_LIBRARIES Threads::Threads
  INTERFACE_COMPILE_DEFINITIONS CAF_ENABLE_TYPE_ID_CHECKS)

pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp>=2.5.4)
find_library(SECCOMP_STATIC_LIBRARY libseccomp.a REQUIRED)
# Its pkg-config file states 0.6.3 whatever the version; the header below decides.
find_path(TREE_SITTER_INCLUDE_DIR tree_sitter/api.h REQUIRED)
file(STRINGS "${TREE_SITTER_INCLUDE_DIR}/tree_sitter/api.h" _ts_abi REGEX "^#define TREE_SITTER_LANGUAGE_VERSION 14$")
if(NOT _ts_abi)
  message(FATAL_ERROR "Gatehouse needs libtree-sitter with grammar ABI 14. Run scripts/setup.")
endif()
find_library(TREE_SITTER_STATIC_LIBRARY libtree-sitter.a REQUIRED)
find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h REQUIRED)
find_package(tomlplusplus 3.3 REQUIRED)
# Unicode case folding and host names in rules; linked statically, so that no start pays for them.
find_path(UNISTRING_INCLUDE_DIR unicase.h REQUIRED)
find_library(UNISTRING_STATIC_LIBRARY libunistring.a REQUIRED)
find_path(IDN2_INCLUDE_DIR idn2.h REQUIRED)
find_library(IDN2_STATIC_LIBRARY libidn2.a REQUIRED)
# The audit: its database and the hashes of its chain; static, for the program that starts at once.
find_path(SQLITE_INCLUDE_DIR sqlite3.h REQUIRED)
find_library(SQLITE_STATIC_LIBRARY libsqlite3.a REQUIRED)
find_path(NETTLE_INCLUDE_DIR nettle/sha2.h REQUIRED)
find_library(NETTLE_STATIC_LIBRARY libnettle.a REQUIRED)
