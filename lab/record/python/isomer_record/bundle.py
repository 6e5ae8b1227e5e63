"""A recording as a safetensors file, in the form that lab/record/recording_format.hpp describes."""

import json
import struct

FORMAT = "isomer-calls 1"
CODES = {
    "f64": ("F64", 8),
    "f32": ("F32", 4),
    "f16": ("F16", 2),
    "bf16": ("BF16", 2),
    "e4m3fn": ("F8_E4M3", 1),
    "e5m2": ("F8_E5M2", 1),
    "e4m3fnuz": ("F8_E4M3FNUZ", 1),
    "e5m2fnuz": ("F8_E5M2FNUZ", 1),
    "i8": ("I8", 1),
    "i32": ("I32", 4),
    "i64": ("I64", 8),
    "u8": ("U8", 1),
    "i16": ("I16", 2),
}


def clean(value):
    """The same with every text valid UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {clean(key): clean(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(each) for each in value]
    return value


def as_json(value):
    return json.dumps(clean(value), ensure_ascii=False, allow_nan=False)


def write(path, calls, storages, metadata):
    texts = {"format": FORMAT, "calls": as_json(calls)}
    texts.update({key: value if isinstance(value, str) else as_json(value) for key, value in metadata.items()})
    header, offset = {"__metadata__": texts}, 0
    for name, content in storages.bytes.items():
        code, element = CODES[storages.types[name]]
        if len(content) % element != 0:
            code, element = "U8", 1
        header[name] = {
            "dtype": code,
            "shape": [len(content) // element],
            "data_offsets": [offset, offset + len(content)],
        }
        offset += len(content)
    text = as_json(header).encode("utf-8")
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for content in storages.bytes.values():
            file.write(content)
