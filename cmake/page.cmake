# The report page (web/): bundled with Node.js into one HTML template, which becomes part of the program.
#
# Its packages are those of web/package-lock.json, in web/node_modules; if they are not there, `npm ci` fetches them when
# CMake runs. Without Node.js, or without the packages, everything else is built all the same, and `--html` says what
# is missing.

option(LOOPFOLD_PAGE "Build the report page; needs Node.js and npm" ON)

set(page_directory ${CMAKE_SOURCE_DIR}/web)
set(page_source ${CMAKE_BINARY_DIR}/generated/views/page_template.cc)
find_program(NODE_EXECUTABLE NAMES node nodejs)
find_program(NPM_EXECUTABLE NAMES npm)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_directory}/package-lock.json)

set(LOOPFOLD_HAVE_PAGE OFF)
if(LOOPFOLD_PAGE AND NODE_EXECUTABLE)
  set(installed ${page_directory}/node_modules/.package-lock.json)
  if(NPM_EXECUTABLE AND (NOT EXISTS ${installed} OR ${page_directory}/package-lock.json IS_NEWER_THAN ${installed}))
    message(STATUS "Fetching the report page's packages: npm ci in web/")
    execute_process(
      COMMAND ${NPM_EXECUTABLE} ci --ignore-scripts --no-audit --no-fund --loglevel=error
      WORKING_DIRECTORY ${page_directory}
      RESULT_VARIABLE npm_result
      OUTPUT_QUIET)
    if(npm_result EQUAL 0)
      file(TOUCH ${installed})
    endif()
  endif()
  if(EXISTS ${installed})
    set(LOOPFOLD_HAVE_PAGE ON)
  endif()
endif()

if(LOOPFOLD_HAVE_PAGE)
  file(GLOB_RECURSE page_inputs CONFIGURE_DEPENDS ${page_directory}/src/* ${CMAKE_SOURCE_DIR}/docs/rules/*.md)
  add_custom_command(
    OUTPUT ${page_source}
    COMMAND ${NODE_EXECUTABLE} ${page_directory}/build.mjs --template ${CMAKE_BINARY_DIR}/web/page.html --cc ${page_source}
    DEPENDS ${page_inputs} ${page_directory}/build.mjs ${page_directory}/package-lock.json
    WORKING_DIRECTORY ${page_directory}
    COMMENT "Bundling the report page"
    VERBATIM)
else()
  message(WARNING "The report page is not built: Node.js, npm or its packages are missing; `--html` will not work. "
                  "Run scripts/setup, or install nodejs and npm, and configure again.")
  file(
    CONFIGURE
    OUTPUT ${page_source}
    CONTENT
      "#include \"views/page_template.h\"\n\nnamespace loopfold::views {\nstd::span<const std::string_view> template_pieces() { return {}; }\n}  // namespace loopfold::views\n"
    @ONLY)
endif()
target_sources(loopfold_views PRIVATE ${page_source})
