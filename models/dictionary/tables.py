"""The columns of tables that the loader writes beside the facts: raw and meta."""

from agentlake.models.dictionary.entry import Entry, of_values

RAW = {
    "stream_id": Entry("The stream (file) that holds the record; see meta.streams."),
    "generation": Entry("Counts up when a stream turns out to have other content."),
    "seq": Entry("Place of the record in its stream, from 0: the line of the file."),
    "record_key": Entry("Identity of the record within its stream."),
    "content_hash": Entry("Hash of the record's bytes; empty: the record is gone."),
    "byte_offset": Entry(
        "Where the record begins in the (decompressed) file.", unit="bytes"
    ),
    "payload": Entry("The record exactly as it was found."),
    "payload_bytes": Entry("The record, where it is no UTF-8 text."),
    "load_id": Entry("The load that wrote the row; see meta.loads."),
}

META = {
    "meta.streams": {
        "stream_id": Entry("The stream, the same for one source and key everywhere."),
        "key": Entry("What stays the same when the agent moves the file."),
        "path": Entry("Where the stream was last found."),
        "reader": Entry("How it is read: jsonl, document, json_document, sqlite, own."),
        "device": Entry("The file's device; with the next four, its signature."),
        "inode": Entry("The file's inode."),
        "size": Entry("The file's size.", unit="bytes"),
        "mtime_ns": Entry("When the file was last written to, since 1970."),
        "beside": Entry("What tells of changes of a database beside its file."),
        "cursor": Entry("How far the reader has come; its own business."),
        "records": Entry("Records of the stream in raw."),
        "status": of_values(
            "How it stands.",
            loaded="to its end",
            waiting="its last line has no newline yet",
            partial="a long load is on its way through it",
            deferred="it could not be read, and is retried",
        ),
        "reason": Entry("Why it could not be read."),
        "first_loaded_at": Entry("When it was first loaded."),
        "loaded_at": Entry("When something of it was last loaded."),
        "missing_since": Entry("Since when it is gone from disk.", zone="UTC"),
        "load_id": Entry("The load that first found it."),
    },
    "meta.sources": {
        "display_name": Entry("What people call the agent."),
        "icon": Entry("An emoji or a letter for it."),
        "stores": Entry("What it keeps its history in: lines, documents, databases."),
        "gives": Entry(
            "What its adapter makes of that; null for an adapter of your own."
        ),
    },
    "meta.loads": {
        "load_id": Entry("The load; its number grows."),
        "started_at": Entry("When it began."),
        "finished_at": Entry("When it last wrote something."),
        "streams": Entry("Streams that were read."),
        "records": Entry("Records that are new in raw."),
        "bytes": Entry("Size of these records.", unit="bytes"),
    },
    "meta.rejects": {
        "byte_offset": RAW["byte_offset"],
        "reason": Entry(
            "What could not be understood, in at most 300 characters;"
            " contents of the record that a message quotes are left out."
        ),
    },
    "meta.unknown_records": {
        "byte_offset": RAW["byte_offset"],
        "type": Entry("What the agent calls it, and what it is a type of."),
    },
    "meta.session_loads": {},
    "meta.model_state": {
        "model": Entry("The SQL model, or a table of meta that is made in Python."),
        "fingerprint": Entry("Digest of everything that its rows depend on but data."),
        "load_id": Entry("The load up to which its rows are right."),
        "refreshed_at": Entry("When it was last brought up to date."),
    },
    "meta.session_groups": {
        "group_id": Entry("Sessions of one group are recomputed together."),
    },
    "meta.session_ids": {
        "id_hash": Entry("Hash of an id that two sessions of one history share."),
    },
    "meta.settings": {
        "name": Entry("The setting."),
        "value": Entry("Its value."),
    },
    "meta.price_lists": {
        "price_list": Entry("Counts up with each price list."),
        "fingerprint": Entry("The package's version, our overlay, the user's prices."),
        "in_force_at": Entry("Since when it holds."),
    },
    "meta.price_changes": {
        "price_list": Entry("The price list that changed the costs."),
        "month": Entry("The month of the calls.", zone="UTC"),
        "calls": Entry("How many rows of core.usage have another cost now."),
        "before_usd": Entry("What they cost before."),
        "after_usd": Entry("What they cost since."),
        "newly_priced": Entry("Those that had no cost."),
        "no_longer_priced": Entry("Those that have none since."),
    },
    "meta.price_offers": {},
    "meta.price_quotes": {},
}
