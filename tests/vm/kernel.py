# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel and the few modules that the guest needs. The cache keeps them by the kernel's name."""

from __future__ import annotations

import lzma
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import siw
from packages import archive, failed, run, unpack

ROOT_MODULES = ("virtio", "virtio_ring", "virtio_pci", "9pnet_virtio", "9p")
VERBS_MODULES = ("dummy", "ib_umad", "rdma_cm", "ib_uverbs", "rdma_ucm")
# soft-iWARP is in no Debian kernel. It is built from Debian's source and loaded last, after the modules that it uses.
DEVICE_MODULES = {"rxe": ("crc32_generic", "rdma_rxe"), "siw": ("crc32c_generic", "libcrc32c", "siw")}


@dataclass(frozen=True)
class kernel:
    """A kernel in the cache: its release, its image, and its modules with the dependencies of each."""

    release: str
    folder: Path

    @property
    def image(self) -> Path:
        return self.folder / "vmlinuz"

    def modules_for(self, device: str) -> list[Path]:
        """Files in the order of loading. Raises failed where a module is missing."""
        depends = dict(line.split(":", 1) for line in (self.folder / "depends").read_text().splitlines())
        order: list[str] = []

        def add(name: str) -> None:
            for each in depends.get(name, "").split():
                add(each)
            if name not in order and name in depends:
                order.append(name)

        for name in (*ROOT_MODULES, *VERBS_MODULES, *DEVICE_MODULES[device]):
            add(name)
        files = [self.folder / "modules" / f"{name}.ko" for name in order]
        if device == "siw":
            files.append(self.folder / "siw.ko")
        return files


def obtain(cache: Path, device: str, say: Callable[[str], None]) -> kernel:
    """The newest kernel that Debian offers, or the newest in the cache without a connection."""
    debian = archive(cache)
    try:
        package = next((name for name in debian.depends("linux-image-amd64") if name.startswith("linux-image-")), "")
    except failed as reason:
        package = _newest_kept(cache)
        say(
            f"no connection to Debian, so the kernel in the cache is used: {package or 'none'} "
            f"({str(reason).splitlines()[0]})"
        )
    if not package:
        raise failed(
            "no kernel: apt knows no package linux-image-amd64 (are Debian's sources in /etc/apt?), "
            "and the cache has none"
        )
    found = kernel(package.removeprefix("linux-image-"), cache / package)
    if not (found.folder / "ready").exists():
        say(f"fetching {package}")
        _make(debian, package, found, cache)
    if device == "siw" and not (found.folder / "siw.ko").exists():
        say(f"building soft-iWARP's module for {found.release}")
        siw.build(debian, found.release, found.folder / "siw.ko", cache)
    return found


def _newest_kept(cache: Path) -> str:
    kept = sorted(cache.glob("linux-image-*/ready"), key=lambda each: each.stat().st_mtime)
    return kept[-1].parent.name if kept else ""


def _make(debian: archive, package: str, made: kernel, cache: Path) -> None:
    unpacked = cache / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    shutil.rmtree(made.folder, ignore_errors=True)
    downloaded = debian.fetch(package, cache / "downloads")
    unpack(downloaded, unpacked)
    modules = next((each for each in (unpacked / "lib/modules", unpacked / "usr/lib/modules") if each.exists()), None)
    if modules is None:
        raise failed(f"{package} holds no lib/modules")
    run(["busybox", "depmod", "-b", str(modules.parent.parent), made.release], 120)
    (made.folder / "modules").mkdir(parents=True)
    _keep(modules / made.release, made.folder)
    shutil.copy(unpacked / f"boot/vmlinuz-{made.release}", made.image)
    shutil.rmtree(unpacked)
    downloaded.unlink()
    (made.folder / "ready").touch()


def _keep(modules: Path, into: Path) -> None:
    """Copies the modules that any device needs, with their dependencies.

    A missing name is part of the kernel itself.
    """
    entries = dict(line.split(":", 1) for line in (modules / "modules.dep").read_text().splitlines())
    path_of = {_name(path): path for path in entries}
    wanted = [name for names in (ROOT_MODULES, VERBS_MODULES, *DEVICE_MODULES.values()) for name in names]
    lines: dict[str, str] = {}
    while wanted:
        name = wanted.pop()
        if name in lines or name not in path_of:
            continue
        needs = [_name(path) for path in entries[path_of[name]].split()]
        lines[name] = f"{name}:{' '.join(needs)}\n"
        wanted += needs
        (into / "modules" / f"{name}.ko").write_bytes(_plain(modules / path_of[name]))
    (into / "depends").write_text("".join(lines.values()))


def _name(path: str) -> str:
    return Path(path).name.split(".ko")[0].replace("-", "_")


def _plain(module: Path) -> bytes:
    content = module.read_bytes()
    if module.suffix == ".xz":
        return lzma.decompress(content)
    if module.suffix != ".ko":
        raise failed(f"{module.name}: modules compressed this way are not understood; .ko and .ko.xz are")
    return content
