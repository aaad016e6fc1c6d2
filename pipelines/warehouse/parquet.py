"""Rows of a query as a Parquet file, written piece by piece: memory stays small.

Python writes it, so the query itself needs no access to files. Moments are in UTC.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from agentlake.errors import UserError
from agentlake.pipelines.warehouse.files import refuse_as_target

_ROWS = 100_000


def write_parquet(
    relation: duckdb.DuckDBPyRelation, path: Path, warehouse: Path
) -> int:
    """Write all rows, readable by the user alone; how many they were.

    The name is that of a whole file at any moment: the old one until the new one is
    complete. Raises UserError for what Parquet or the disk cannot take, and for the
    files of the warehouse itself.
    """
    refuse_as_target(path, warehouse)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(file, "wb") as sink:
            rows = _write(relation, sink)
            sink.flush()
            os.fsync(sink.fileno())
        part.replace(path)
    except OSError as error:
        msg = f"{path}: {error.strerror or error}. Nothing was written."
        raise UserError(msg) from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        msg = f"{path}: Parquet cannot hold a column: {error}. Cast it to text."
        raise UserError(msg) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return rows


def _write(relation: duckdb.DuckDBPyRelation, sink: object) -> int:
    reader = relation.to_arrow_reader(_ROWS)
    schema = pa.schema([_in_utc(field) for field in reader.schema])
    rows = 0
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in _batches(reader):
            writer.write_batch(batch.cast(schema))
            rows += batch.num_rows
    return rows


def _batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """What the query gives; Arrow calls DuckDB's errors errors of reading a file."""
    try:
        yield from reader
    except OSError as error:
        text = str(error)
        kinds = {
            "INTERRUPT": duckdb.InterruptException,
            "Out of Memory": duckdb.OutOfMemoryException,
        }
        kind = next((kinds[word] for word in kinds if text.startswith(word)), None)
        raise (kind or duckdb.Error)(text) from error


def _in_utc(field: pa.Field) -> pa.Field:
    if pa.types.is_timestamp(field.type) and field.type.tz is not None:
        return field.with_type(pa.timestamp(field.type.unit, "UTC"))
    return field
