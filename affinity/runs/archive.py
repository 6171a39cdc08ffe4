"""A run travels as a zip of its folder; an uploaded zip is untrusted and only known files leave it."""

import io
import re
import shutil
import stat
import struct
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path, PureWindowsPath

from affinity.core.errors import UnknownFormat, Unreadable
from affinity.core.strict_json import Json, dumps, to_json, write_atomic
from affinity.runs.compressed import holds_compressed_batches
from affinity.runs.format import (
    LOG_FILE,
    RUN_FILE,
    SEGMENT_PATTERN,
    STATUS_FILE,
    TRAININGS_FILE,
)
from affinity.runs.library import Library
from affinity.runs.reader import Run

MAX_ZIP_BYTES = 20_000_000
MAX_UNPACKED_BYTES = 200_000_000
MAX_MEMBERS = 2_000
MAX_RATIO = 100

# What the zipfile module raises for damaged and hostile files; RuntimeError is its word for encrypted ones.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,
    RuntimeError,
    ValueError,
    KeyError,
    IndexError,
    OSError,
    EOFError,
)

# bzip2 and LZMA members are refused: the zipfile module unpacks them without a limit on the result.
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})

_PLAIN = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)?")


def pack(run: Run) -> bytes:
    """The run as a zip: its description, signals and results, without locks, logs and paths."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(run.folder.iterdir()):
            if path.name == RUN_FILE:
                described = {**run.info.to_json(), "settings": _without_folders(to_json(run.info.settings))}
                archive.writestr(f"{run.id}/{RUN_FILE}", dumps(described, indent=1))
            elif _wanted(path.name) and path.is_file() and not path.is_symlink():
                archive.write(path, f"{run.id}/{path.name}")
    return buffer.getvalue()


def _without_folders(value: Json) -> Json:
    """Settings in which a `file` is only its name: folders often hold the name of a person or a machine."""
    if isinstance(value, dict):
        return {
            key: PureWindowsPath(item).name
            if key == "file" and isinstance(item, str)
            else _without_folders(item)
            for key, item in value.items()
        }
    return [_without_folders(item) for item in value] if isinstance(value, list) else value


def unpack(data: bytes, library: Library) -> str:
    """Add an uploaded run to the library under a fresh id.

    Args:
        data: the zip.
        library: where it goes.

    Returns:
        The new run's id.

    Raises:
        UnknownFormat: not a zip, or a zip without a run.
        Unreadable: it is damaged, or breaks a limit.
        RunError: its description cannot be read.
    """
    if len(data) > MAX_ZIP_BYTES:
        raise Unreadable(f"the zip has {len(data):,} bytes, more than {MAX_ZIP_BYTES:,}.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = _read_members(archive)
    except _ZIP_ERRORS as error:
        raise UnknownFormat("the file is not a readable zip.", hint="Upload the zip of one run.") from error
    if RUN_FILE not in files:
        raise UnknownFormat(f"the zip holds no {RUN_FILE}.", hint="Upload the zip of one run.")
    folder = library.new_folder()
    try:
        for name, content in files.items():
            (folder / name).write_bytes(content)
        _settle(folder)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return folder.name


def _settle(folder: Path) -> None:
    """Give the run its new id, mark it as uploaded, end a state that only its old machine could change."""
    run = Run(folder)
    uploaded = replace(run.info, origin={**run.info.origin, "uploaded": True})
    write_atomic(folder / RUN_FILE, uploaded.to_json())
    status_file = folder / STATUS_FILE
    if status_file.exists() and run.status.state in {"queued", "running", "lost"}:
        status_file.unlink()


def _wanted(name: str) -> bool:
    known = {RUN_FILE, STATUS_FILE, TRAININGS_FILE}
    return name in known or SEGMENT_PATTERN.fullmatch(name) is not None


def _read_members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise Unreadable(f"the zip holds {len(members)} files, more than {MAX_MEMBERS}.")
    files: dict[str, bytes] = {}
    left = MAX_UNPACKED_BYTES
    for member in members:
        name = member.filename.rpartition("/")[2]
        if member.is_dir() or name == LOG_FILE:
            continue
        if not _PLAIN.fullmatch(member.filename) or ".." in member.filename or _is_link(member):
            raise Unreadable(
                "the zip holds a file name that is not allowed.", hint="Upload the zip of one run."
            )
        if not _wanted(name):
            continue
        if name in files:
            raise Unreadable(f"the zip holds {name} twice.", hint="Upload the zip of one run.")
        files[name] = _read(archive, member, left)
        if name.endswith(".arrows") and holds_compressed_batches(files[name]):
            raise Unreadable(f"{name} is compressed inside.", hint="Upload a run as it was downloaded.")
        left -= len(files[name])
    return files


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, left: int) -> bytes:
    """A member's content, counted while it is read because its header may lie."""
    if member.compress_type not in _METHODS:
        raise Unreadable(
            f"the zip packs {member.filename} in a way that is not allowed.", hint="Use deflate."
        )
    allowed = min(left, max(1_000_000, member.compress_size * MAX_RATIO))
    with archive.open(member) as stream:
        content = stream.read(allowed + 1)
    if len(content) > allowed:
        raise Unreadable("the zip unpacks to more than is allowed.", hint="It may be damaged or a trap.")
    return content


def _is_link(member: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(member.external_attr >> 16)
