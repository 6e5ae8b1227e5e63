#!/usr/bin/env python3
"""Whether a capture of `family set` has the scales that each launch had: 1 1, 2 2, 2 2, 4 4.

nvcc -arch=sm_90a -O3 -std=c++17 -o family_base family.cu
isomer trace -o set.jsonl -- ./family_base set && python3 check_set.py set.jsonl
"""
import json
import struct
import sys

SCALE = 32  # its offset in the kernel's one parameter


def main():
    scales = []
    with open(sys.argv[1]) as lines:
        for line in map(json.loads, lines):
            if "launch" not in line:
                continue
            arguments = line.get("arguments")
            scales.append(struct.unpack_from("<f", bytes.fromhex(arguments[0]), SCALE)[0] if arguments else None)
    expected = [1, 1, 2, 2, 2, 2, 4, 4]
    print("scales", scales, "as expected" if scales == expected else f"expected {expected}")
    return scales != expected


if __name__ == "__main__":
    sys.exit(main())
