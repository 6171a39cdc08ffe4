import io
import json
import random
import stat
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from small_runs import described, small_run

from affinity.core.errors import AffinityError, RunDamaged, RunTooNew, UnknownFormat, Unreadable
from affinity.core.strict_json import dumps
from affinity.runs import archive
from affinity.runs.archive import pack, unpack
from affinity.runs.compressed import holds_compressed_batches
from affinity.runs.library import Library
from affinity.runs.writer import RunWriter


def zipped(members: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def description(**changes: object) -> str:
    return dumps(described(Path("20260101-000000-000-abcdef"), **changes).to_json())


@pytest.fixture
def refused(library: Library):
    """A function that expects an upload to be refused and to leave nothing behind."""

    def check(data: bytes, kind: type[AffinityError] = Unreadable) -> str:
        with pytest.raises(kind) as caught:
            unpack(data, library)
        assert not library.home.exists() or list(library.home.iterdir()) == []
        return str(caught.value)

    return check


def test_a_run_travels_as_a_zip(library: Library, tmp_path: Path):
    run = small_run(library, label="Mine", seed=3, planted=(("a", "b"), ("c",)))
    with RunWriter(run.folder) as writer:
        writer.add_training({"arm": "joint"})
    (run.folder / "worker.log").write_text("/home/me/secret")
    other = Library(tmp_path / "other", samples=tmp_path / "none")
    copy = other.open(unpack(pack(run), other))
    assert copy.id != run.id
    assert (copy.info.label, copy.info.seed, copy.info.planted, copy.tasks) == (
        "Mine",
        3,
        run.info.planted,
        run.tasks,
    )
    np.testing.assert_array_equal(copy.signal("losses").values, run.signal("losses").values)
    assert copy.trainings() == ({"arm": "joint"},)
    assert copy.status.state == "finished"
    assert {path.name for path in copy.folder.iterdir()} == {
        *("run.json", "status.json", "trainings.jsonl", "losses.arrows", "gram.arrows")
    }
    assert copy.info.origin == {"uploaded": True}


@pytest.mark.parametrize("path", ["/home/me/secret/table.csv", "C:\\Users\\me\\table.csv", "table.csv"])
def test_a_zip_holds_the_name_of_a_table_and_not_its_folder(library: Library, path: str):
    settings = {
        "train": {"dataset_settings": {"file": path}},
        "dataset_settings": {"file": path, "groups": 3},
    }
    run = small_run(library, settings=settings)
    with zipfile.ZipFile(io.BytesIO(pack(run))) as file:
        packed = json.loads(file.read(f"{run.id}/run.json"))["settings"]
    assert packed == {
        "train": {"dataset_settings": {"file": "table.csv"}},
        "dataset_settings": {"file": "table.csv", "groups": 3},
    }
    assert run.info.settings == settings


def test_a_linked_file_is_not_packed(library: Library, tmp_path: Path):
    run = small_run(library)
    (tmp_path / "secret").write_text("secret")
    (run.folder / "secret.arrows").symlink_to(tmp_path / "secret")
    with zipfile.ZipFile(io.BytesIO(pack(run))) as file:
        assert not any("secret" in name for name in file.namelist())


def test_a_run_that_was_running_elsewhere_is_not_running_here(library: Library):
    data = zipped(
        {"run.json": description(), "status.json": '{"state": "running", "pid": 1, "pid_started": 0}'}
    )
    assert library.open(unpack(data, library)).status.state == "finished"


@pytest.mark.parametrize(
    "name",
    [
        *("../run.json", "/run.json", "a/../../run.json", "..\\run.json", "C:\\run.json", "C:run.json"),
        *(
            "\\\\host\\share\\run.json",
            "a/b/run.json",
            "./../run.json",
            "a//run.json",
            "~/run.json",
            "rün/run.json",
        ),
    ],
)
def test_a_member_that_leads_elsewhere_is_refused(refused, name: str):
    refused(zipped({name: description()}))


def test_a_link_in_a_zip_is_refused(refused):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("run.json", description())
        link = zipfile.ZipInfo("losses.arrows")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
    refused(buffer.getvalue())


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(refused):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for folder in ("", "x/"):
            file.writestr(f"{folder}run.json", description())
    assert "twice" in refused(buffer.getvalue())
    with zipfile.ZipFile(buffer := io.BytesIO(), "w") as file:
        file.writestr("run.json", description())
        file.writestr("run.json", description())
    assert "twice" in refused(buffer.getvalue())


def test_a_nested_zip_and_foreign_files_never_reach_the_disk(library: Library):
    inner = zipped({"run.json": description()})
    data = zipped(
        {"run.json": description(), "inner.zip": inner, "x.pt": b"\x80", "evil.sh": "", ".hidden": ""}
    )
    folder = library.home / unpack(data, library)
    assert [path.name for path in folder.iterdir()] == ["run.json"]
    with pytest.raises(UnknownFormat):
        unpack(zipped({"inner.zip": inner}), library)


def test_a_bomb_is_refused_while_it_unpacks(refused, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 2_000_000)
    zeros = bytes(1_500_000)
    assert "more than is allowed" in refused(zipped({"a.arrows": zeros, "b.arrows": zeros}))
    monkeypatch.setattr(archive, "MAX_RATIO", 10)
    assert "more than is allowed" in refused(zipped({"a.arrows": zeros}))


def test_a_header_that_lies_about_the_size_is_not_believed(refused, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 1_000_000)
    data = bytearray(zipped({"a.arrows": bytes(5_000_000)}))
    true_size = (5_000_000).to_bytes(4, "little")
    refused(bytes(data).replace(true_size, (10).to_bytes(4, "little")), AffinityError)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_a_limit_are_refused(refused, method: int):
    assert "not allowed" in refused(zipped({"run.json": description(), "a.arrows": bytes(10_000)}, method))


def test_too_many_members_and_too_many_bytes_are_refused(refused, monkeypatch: pytest.MonkeyPatch):
    assert "2001 files" in refused(zipped({f"a{number}.arrows": "" for number in range(2001)}))
    monkeypatch.setattr(archive, "MAX_ZIP_BYTES", 10)
    assert "bytes, more than 10" in refused(zipped({"run.json": description()}))


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"PK\x05\x06" + bytes(18), b"\x1f\x8b gzip", b"not a zip" * 100]
)
def test_what_is_no_zip_of_a_run_is_an_unknown_format(refused, data: bytes):
    refused(data, UnknownFormat)


def test_an_encrypted_member_is_an_unknown_format(refused):
    data = bytearray(zipped({"run.json": description()}))
    data[6] |= 1  # the flag in the local header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    refused(bytes(data), UnknownFormat)


def test_a_broken_stream_is_an_unknown_format(refused):
    data = bytearray(zipped({"run.json": description() * 50}))
    data[60:90] = b"\xff" * 30
    refused(bytes(data), UnknownFormat)


def test_bytes_changed_at_random_never_raise_anything_else(library: Library):
    good = zipped(
        {"run.json": description(), "losses.arrows": bytes(300), "status.json": '{"state": "failed"}'}
    )
    generator = random.Random(0)
    for _ in range(1500):
        bad = bytearray(good)
        for _ in range(generator.choice((1, 2, 8))):
            bad[generator.randrange(len(bad))] = generator.randrange(256)
        try:
            run_id = unpack(bytes(bad), library)
        except AffinityError:
            continue
        library.delete(run_id)
    assert list(library.home.iterdir()) == []


@pytest.mark.parametrize(
    ("run_json", "kind"),
    [
        ("{}", RunDamaged),
        ('{"schema": "affinity.run/7"}', RunTooNew),
        (
            json.dumps(
                {"schema": "affinity.run/1", "kind": "training", "tasks": [{"name": "a"}], "seed": "x"}
            ),
            RunDamaged,
        ),
        ("[" * 1000, Unreadable),
        ("NaN", Unreadable),
        ('{"schema": "affinity.run/1", "kind": "training", "tasks": NaN}', RunDamaged),
    ],
)
def test_a_description_that_cannot_be_read_leaves_no_folder(
    refused, run_json: str, kind: type[AffinityError]
):
    refused(zipped({"run.json": run_json}), kind)


def test_sizes_that_are_not_numbers_do_not_matter(library: Library):
    raw = json.loads(description())
    text = json.dumps(raw | {"tasks": [{"name": "a", "classes": 2}]}).replace('"seed": null', '"seed": NaN')
    assert library.open(unpack(zipped({"run.json": text}), library)).info.seed is None


def test_a_hundred_tasks_travel(library: Library):
    names = tuple(f"task {number}" for number in range(100))
    run_id = unpack(zipped({"x/run.json": description(tasks=names)}), library)
    assert library.open(run_id).tasks == names


def test_half_a_surrogate_pair_in_a_label_travels(library: Library):
    text = description(label="MARK", settings={"note": "MARK"}).replace("MARK", r"x\ud800")
    info = library.open(unpack(zipped({"run.json": text}), library)).info
    assert info.label == "x?"


def test_a_wrong_checksum_is_an_unknown_format(refused):
    data = bytearray(zipped({"run.json": description()}, zipfile.ZIP_STORED))
    crc = zlib.crc32(description().encode()).to_bytes(4, "little")
    refused(bytes(data).replace(crc, b"\0\0\0\0"), UnknownFormat)


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_signal_that_is_compressed_inside_is_refused(refused, codec: str):
    zeros = pa.array(np.zeros(300_000))
    columns = {
        "step": pa.array(np.arange(100_000)),
        "split": pa.array(["train"] * 100_000),
        "values": pa.FixedSizeListArray.from_arrays(zeros, 3),
    }
    batch = pa.record_batch(columns)
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch)
    message = refused(zipped({"run.json": description(), "x.arrows": sink.getvalue()}))
    assert message == "x.arrows is compressed inside. Upload a run as it was downloaded."


def test_a_dictionary_batch_is_refused_and_a_plain_or_broken_stream_is_not(library: Library):
    run = small_run(library)
    plain = (run.folder / "losses.arrows").read_bytes()
    assert not any(holds_compressed_batches(plain[:length]) for length in range(len(plain)))
    batch = pa.record_batch({"split": pa.array(["train"]).dictionary_encode()})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    assert holds_compressed_batches(sink.getvalue())
