# Filled by the install rules of the library.
