# Writes a C++ file with the text of the recorder's Python files: cmake -DROOT=lab/record/python -DOUTPUT=file -P EmbedPython.cmake
file(GLOB_RECURSE paths RELATIVE ${ROOT} ${ROOT}/*.py)
list(SORT paths)
set(entries "")
foreach(path IN LISTS paths)
  file(READ ${ROOT}/${path} text)
  if(text MATCHES "\\)ISOMER\"")
    message(FATAL_ERROR "${path} contains the delimiter of its literal")
  endif()
  string(APPEND entries "    {\"${path}\", R\"ISOMER(${text})ISOMER\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new "#include \"lab/record/python_files.hpp\"\n\nnamespace isomer::lab {\n
std::span<const PythonFile> python_files() {
  static constexpr PythonFile kFiles[] = {\n${entries}  };\n  return kFiles;\n}\n\n}  // namespace isomer::lab\n")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(TOUCH ${OUTPUT})
