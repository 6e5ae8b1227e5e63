list(APPEND labels timed)
