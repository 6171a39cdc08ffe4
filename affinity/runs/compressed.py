"""Compressed Arrow streams are refused in uploads: a few bytes of them may unpack to more than the memory.

Our writer never compresses, and pyarrow unpacks a batch whole, without a limit. Whether it is compressed
stands in its header, a FlatBuffers table: https://arrow.apache.org/docs/format/Columnar.html
"""

import struct

import pyarrow as pa

_HEADER_TYPE, _HEADER = 1, 2
_COMPRESSION = 3
_RECORD_BATCH = 3


def holds_compressed_batches(stream: bytes) -> bool:
    """Whether a stream holds anything but a schema and plain batches, as far as it can be read."""
    try:
        reader = pa.ipc.MessageReader.open_stream(stream)
        while True:
            try:
                message = reader.read_next_message()
            except StopIteration:
                return False
            if message.type != "schema" and not _is_plain(message.metadata.to_pybytes()):
                return True
    except (pa.ArrowException, OSError):
        return False  # the run's reader stops at the same place


def _is_plain(metadata: bytes) -> bool:
    try:
        message = _Table(metadata, struct.unpack_from("<I", metadata, 0)[0])
        kind, header = message.field(_HEADER_TYPE), message.field(_HEADER)
        if kind is None or header is None or metadata[kind] != _RECORD_BATCH:
            return False  # a dictionary batch, or a kind that the format does not need
        batch = _Table(metadata, header + struct.unpack_from("<I", metadata, header)[0])
        return batch.field(_COMPRESSION) is None
    except (struct.error, IndexError):
        return False


class _Table:
    """A FlatBuffers table: where its fields stand."""

    def __init__(self, data: bytes, start: int) -> None:
        self.data, self.start = data, start
        self.fields = start - struct.unpack_from("<i", data, start)[0]
        if self.fields < 0:
            raise IndexError

    def field(self, number: int) -> int | None:
        """Position of a field, or None where it is not set."""
        place = 4 + 2 * number
        if place >= struct.unpack_from("<H", self.data, self.fields)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, self.fields + place)[0]
        return self.start + offset if offset else None
