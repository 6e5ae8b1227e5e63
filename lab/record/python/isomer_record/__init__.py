"""Runs a label and its test under PyTorch and keeps every call of the label's functions. Started by `isomer record`."""
