"""Recordings of the original GPU kernels: their calls, their answers, how near those are to the ops."""
