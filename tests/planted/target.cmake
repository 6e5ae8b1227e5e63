set(optimised ON)
