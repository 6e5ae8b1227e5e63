#!/usr/bin/env python3
"""Makes a table of where the fields of kernels' parameters lie, from an object that was built with the user's headers.

  nvcc -g -c flash_fwd_hdim128_fp16_sm90.cu …          # the host's debug information (-g) is what is read
  tools/parameter_layout.py flash_fwd_hdim128_fp16_sm90.o >fa3.json
  ISOMER_LAYOUTS=fa3.json isomer diff a.jsonl b.jsonl  # arguments by name: seqlen_q, cu_seqlens_q, …

Kernels take one struct by value, and no driver tells what is in it; the host's stub of each kernel does. The table is
keyed by the kernel's family, its arity (the numbers of template arguments, which differ between a library's versions),
the parameter's place and its size; where instantiations of one key have several layouts, only the fields that they share
are written, and a line on stderr says so. Needs pyelftools (PyPI; python3-pyelftools in Debian) and the built isomer.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

try:
    from elftools.elf.elffile import ELFFile
except ImportError:
    sys.exit("parameter_layout: pyelftools is missing: pip install pyelftools")

ALIASES = {"DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type", "DW_TAG_atomic_type"}
STRUCTS = {"DW_TAG_structure_type", "DW_TAG_class_type"}
POINTERS = {"DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"}
KINDS = {0x02: "bool", 0x04: "float", 0x05: "int", 0x06: "int", 0x07: "uint", 0x08: "uint", 0x10: "uint"}
LONGEST_ARRAY = 8  # what is longer is opaque, as a tensor map's 16 words are


def type_of(die):
    """The type of a variable or member, behind its names and qualifiers."""
    while True:
        if "DW_AT_type" not in die.attributes:
            return None
        die = die.get_DIE_from_attribute("DW_AT_type")
        if die.tag not in ALIASES:
            return die


def name_of(die):
    name = die.attributes.get("DW_AT_name")
    return name.value.decode(errors="replace") if name else ""


def size_of(die):
    if die is None:
        return 0
    if "DW_AT_byte_size" in die.attributes:
        return die.attributes["DW_AT_byte_size"].value
    if die.tag in POINTERS:
        return 8
    if die.tag == "DW_TAG_array_type":
        return size_of(type_of(die)) * length_of(die)
    return 0


def length_of(array):
    length = 1
    for dimension in array.iter_children():
        if dimension.tag == "DW_TAG_subrange_type":
            bound = dimension.attributes.get("DW_AT_upper_bound")
            count = dimension.attributes.get("DW_AT_count")
            length *= count.value if count else bound.value + 1 if bound else 0
    return length


def members(die):
    """(name, offset, type) of a struct's bases and members; a base has no name, a static member no offset."""
    for child in die.iter_children():
        if child.tag not in ("DW_TAG_member", "DW_TAG_inheritance") or "DW_AT_data_member_location" not in child.attributes:
            continue
        location = child.attributes["DW_AT_data_member_location"].value
        if isinstance(location, int) and "DW_AT_data_bit_offset" not in child.attributes:
            yield ("" if child.tag == "DW_TAG_inheritance" else name_of(child)), location, type_of(child)


def elements(die):
    """The types of a template's pack, also of those that take no room, as cute::C<1>."""
    for child in die.iter_children():
        if child.tag == "DW_TAG_GNU_template_parameter_pack":
            return [type_of(each) for each in child.iter_children() if each.tag == "DW_TAG_template_type_param"]
    return []


def leaf(name, offset, size, kind):
    return {"name": name, "offset": offset, "size": size, "type": kind}


def tuple_fields(die, name, offset):
    """The scalars of a tuple, numbered as get<> numbers them. None where the type is none, or does not tell."""
    if name_of(die).split("<")[0] != "tuple":
        return None
    numbered = list(numbered_elements(die, offset))
    if numbered:
        return [each for number, at, of in sorted(numbered, key=lambda element: element[1])
                for each in fields(of, f"{name}.{number}", at)]
    stored = in_order(die, offset)
    if stored is None:
        return None
    found = []
    for number, of in enumerate(elements(die)):
        # The element's type says its scalars' names, the tuple where they lie.
        for each in fields(of, f"{name}.{number}", 0):
            if len(found) == len(stored) or each["size"] != stored[len(found)]["size"]:
                return None
            found.append(each | {"offset": stored[len(found)]["offset"]})
    return found if len(found) == len(stored) else None


def numbered_elements(die, offset):
    """(number, offset, type) where each element is in a class that has its number: standard libraries', older CuTe's."""
    for member, at, of in members(die):
        holder = re.match(r"(_Head_base|__tuple_leaf|EBO)<(\d+)", name_of(of))
        if holder:
            yield from ((int(holder[2]), offset + at + inside, element) for _, inside, element in members(of))
        elif not member and re.match(r"(_Tuple_impl|__tuple_impl|TupleBase)<", name_of(of)):
            yield from numbered_elements(of, offset + at)


def in_order(die, offset):
    """The scalars of CuTe's tuple, whose elements lie in their order; None for any other."""
    found = []
    for _, at, of in members(die):
        nested = name_of(of).startswith("ESO<")
        if not nested and not name_of(die).startswith("ESO<"):
            return None
        found += in_order(of, offset + at) if nested else fields(of, "", offset + at)
    return found


def fields(die, name, offset):
    """The scalars of a type, in their order."""
    size = size_of(die)
    if die is None or size == 0:
        return []
    if die.tag in POINTERS:
        return [leaf(name, offset, 8, "pointer")]
    if die.tag == "DW_TAG_enumeration_type":
        of = type_of(die)
        return fields(of, name, offset) if of is not None else [leaf(name, offset, size, "int")]
    if die.tag == "DW_TAG_base_type":
        return [leaf(name, offset, size, KINDS.get(die.attributes["DW_AT_encoding"].value, "bytes"))]
    if die.tag == "DW_TAG_array_type":
        element, length = type_of(die), length_of(die)
        if length > LONGEST_ARRAY:
            return [leaf(name, offset, size, "bytes")]
        return [each for i in range(length) for each in fields(element, f"{name}[{i}]", offset + i * size_of(element))]
    if die.tag in STRUCTS:
        found = tuple_fields(die, name, offset)
        if found is not None:
            return found
        found = []
        for member, at, of in members(die):
            path = f"{name}.{member}" if name and member else name or member
            found += fields(of, path, offset + at)
        return found
    return [leaf(name, offset, size, "bytes")]


def kernels_of(isomer, path):
    said = subprocess.run([isomer, "kernels", "--json", path], capture_output=True, text=True)
    if said.returncode != 0:
        sys.exit(f"parameter_layout: {said.stderr.strip() or path + ' has no kernels'}")
    return {each["name"]: (each["family"], tuple(each["arity"])) for each in json.loads(said.stdout)["kernels"]}


def parameters_of(path, kernels):
    """(family, arity, place, type) of every parameter of every kernel's stub on the host."""
    with open(path, "rb") as file:
        elf = ELFFile(file)
        if not any(elf.get_section_by_name(section) for section in (".debug_info", ".zdebug_info")):
            sys.exit(f"parameter_layout: {path} has no debug information: compile it with -g")
        for unit in elf.get_dwarf_info().iter_CUs():
            for die in unit.iter_DIEs():
                if die.tag != "DW_TAG_subprogram":
                    continue
                # "__device_stub_" and the kernel's mangled name; large arguments come to it by reference.
                kernel = kernels.get(name_of(die).removeprefix("__device_stub_"))
                if kernel is None:
                    continue
                taken = [type_of(each) for each in die.iter_children() if each.tag == "DW_TAG_formal_parameter"]
                for place, of in enumerate(taken):
                    yield *kernel, place, type_of(of) if of is not None and of.tag == "DW_TAG_reference_type" else of


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("objects", nargs="+", metavar="OBJECT", help="compiled by nvcc with -g")
    built = pathlib.Path(__file__).resolve().parent.parent / "build" / "release" / "bin" / "isomer"
    parser.add_argument("--isomer", default=str(built), help="the built command (default: %(default)s)")
    options = parser.parse_args()
    layouts, shared = {}, set()
    for path in options.objects:
        for family, arity, place, of in parameters_of(path, kernels_of(options.isomer, path)):
            if of is None or of.tag not in STRUCTS:
                continue  # a scalar needs no table
            key = (family, arity, place, size_of(of))
            layout = fields(of, "", 0)
            if layouts.setdefault(key, layout) != layout:
                layouts[key] = [each for each in layouts[key] if each in layout]
                shared.add(key)
    for family, arity, place, size in sorted(shared):
        print(f"parameter_layout: parameter {place} of {family} has several layouts of {size} bytes: "
              f"{len(layouts[family, arity, place, size])} fields that they share are written", file=sys.stderr)
    if not layouts:
        sys.exit("parameter_layout: no kernel takes a struct, or none has a stub with debug information")
    table = [{"family": family, "arity": arity, "parameter": place, "bytes": size, "fields": layout}
             for (family, arity, place, size), layout in sorted(layouts.items(), key=lambda each: each[0])]
    json.dump({"version": 1, "layouts": table}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
