"""The originals: which file of which repository at which commit, and how one is loaded.

The files themselves are not part of this project. Whoever records puts them under one folder as
`OWNER/NAME@COMMIT/PATH`; each is checked against its sha256 before anything of it runs.
"""

import hashlib
import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source:
    repository: str
    commit: str
    path: str
    sha256: str

    @property
    def place(self):
        return Path(f"{self.repository}@{self.commit}") / self.path


LIGHTLLM = ("ModelTC/lightllm", "fc72ffa")
TRITONBENCH = ("thunlp/TritonBench", "603e28a")
KERNELS = "triton_kernel"

SOURCES = {
    # DeepSeek-V3 before and after the floor under amax and the ue8m0 scales came; the first is what the
    # project started from.
    "deepseek_first": Source(
        "deepseek-ai/DeepSeek-V3",
        "4a65fd9",
        "inference/kernel.py",
        "cdfd30192123c5aa8e6f3cb795a145acebdf258d9cfe7ec83070583649d768a8",
    ),
    "deepseek": Source(
        "deepseek-ai/DeepSeek-V3",
        "9b4e978",
        "inference/kernel.py",
        "ffee39fb93658b6ddd783c0932b1445cc4a007a061c0de2a40ac2a3b1563cc00",
    ),
    "lightllm_scatter": Source(
        *LIGHTLLM,
        f"lightllm/common/basemodel/{KERNELS}/destindex_copy_kv.py",
        "b4b69f35d214604be21a0941eb766a232c34473dd14424c78445c347cf767ec6",
    ),
    "lightllm_scatter_group": Source(
        *LIGHTLLM,
        f"lightllm/models/llama/{KERNELS}/ppl_quant_copy_kv.py",
        "fb7721e4677d5830f53fd0e4190a6285d25565318ae2fc2bcb979ce74f12b7d8",
    ),
    "lightllm_stage1": Source(
        *LIGHTLLM,
        f"lightllm/models/llama/{KERNELS}/flash_decoding_stage1.py",
        "d950fbe60ce959979f0bcd46746a30038903372bd25a159ca00babfb6866879b",
    ),
    "lightllm_stage1_gqa": Source(
        *LIGHTLLM,
        f"lightllm/models/llama/{KERNELS}/gqa_flash_decoding_stage1.py",
        "e5bbee211cff77e90b3b1f9d708e25ea31d968c3fb92ce70fe6d0fca8a52cb07",
    ),
    "lightllm_stage2": Source(
        *LIGHTLLM,
        f"lightllm/models/llama/{KERNELS}/flash_decoding_stage2.py",
        "94f16d7c9a9a7a6a72a87824330eef54882700fde66c3a6b9d28f16723580134",
    ),
    "lightllm_phi_stage1": Source(
        *LIGHTLLM,
        f"lightllm/models/phi3/{KERNELS}/flash_decoding_stage1.py",
        "1334557c8a48ea7267618f2ea66b3e7e7dbf9ae32b93c4fadb6409cb6280729a",
    ),
    "lightllm_phi_stage2": Source(
        *LIGHTLLM,
        f"lightllm/models/phi3/{KERNELS}/flash_decoding_stage2.py",
        "f03eaae6be52902b9f13731f723d4d4b6d15ef94120d977c130e2e851df496c1",
    ),
    "tritonbench_scatter": Source(
        *TRITONBENCH,
        "data/TritonBench_G_v1/quantize_copy_kv.py",
        "801d52d8ea544a71064012be94369ab1d7faf1e56a562f10184dcb6e7dda828c",
    ),
    "tritonbench_scatter_any_d": Source(
        *TRITONBENCH,
        "data/TritonBench_G_v1/quantize_kv_transform.py",
        "34a1108d767c133aa1855051cb7192110aebe3330533a278246915d87d91b097",
    ),
    "tritonbench_scatter_group": Source(
        *TRITONBENCH,
        "data/TritonBench_G_v1/quantize_kv_copy.py",
        "5e9ed8f1d94d74fe488bd9fed98f83a0bd774d153d490e59ae2c6f4fe0e37d47",
    ),
    "tritonbench_stage2": Source(
        *TRITONBENCH,
        "data/TritonBench_G_v1/flash_decode2_llama.py",
        "1cfd07deb430df37b6321e411c262fa7877d5adc80224ab66234ce8e6414ca62",
    ),
    "tritonbench_stage2_phi": Source(
        *TRITONBENCH,
        "data/TritonBench_G_v1/flash_decode2_phi.py",
        "ef7e4521d4c9c724b0200386466cf751ff7eaa73584cd4971280cd2c1cde10ff",
    ),
    "tritonbench_sin": Source(
        *TRITONBENCH,
        "data/TritonBench_G_v1/sin_kernel.py",
        "7ac0db069efbe54a466bf1da984569d3eb4aad67c9db1435d31ed682e518fb2b",
    ),
    "tritonbench_sin_out": Source(
        *TRITONBENCH,
        "data/TritonBench_G_v1/sin_computation.py",
        "eeb4d1635b71a475e8873c0c0da6ef42b108a80aae9b6b668d950b6bb59b3f83",
    ),
}


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 22):
            digest.update(chunk)
    return digest.hexdigest()


class Originals:
    """The originals of one folder, loaded as Python modules on first use."""

    def __init__(self, folder, scratch):
        self.folder, self.scratch, self.loaded = Path(folder), Path(scratch), {}

    def faults(self, keys):
        """One sentence for each file of these originals that is missing or is not the pinned one."""
        found = []
        for key in keys:
            source = SOURCES[key]
            file = self.folder / source.place
            if not file.is_file():
                found.append(
                    f"missing: {source.place} "
                    f"({source.path} of {source.repository} at commit {source.commit})"
                )
            elif (digest := sha256_of(file)) != source.sha256:
                found.append(
                    f"not the pinned file: {source.place} has sha256 {digest}, expected {source.sha256}"
                )
        return found

    def module(self, key):
        if key not in self.loaded:
            # TritonBench's files run their own test on import, below a line of '#'; some of those tests write
            # out of bounds.
            text = (self.folder / SOURCES[key].place).read_text()
            kernels = re.split(r"^#{100,}$", text, maxsplit=1, flags=re.MULTILINE)[0]
            file = self.scratch / f"original_{key}.py"
            file.write_text(kernels)
            spec = importlib.util.spec_from_file_location(file.stem, file)
            module = importlib.util.module_from_spec(spec)
            sys.modules[file.stem] = module
            spec.loader.exec_module(module)
            self.loaded[key] = module
        return self.loaded[key]
