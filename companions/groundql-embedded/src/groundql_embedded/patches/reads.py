"""Speed of reading. These patches change no answer; the whole conformance suite runs with them.

The engine reads every document of a collection for every command, through one Python call a field. Most of what
GroundQL asks is asked of data that does not change between questions, or wants the first few documents only.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Mapping

import secantus.commands as C
import secantus.storage as S
from secantus.collation import parse as parse_collation

from groundql_embedded.patches.registry import patch

_scan_stock = S.Storage._scan_docs_natural
_find_matching_stock = S.Storage.find_matching
_count_matching_stock = S.Storage.count_matching
_prune_ttl_stock = S.Storage.prune_ttl
_matches_stock = S.matches
_aggregate_stock = C._aggregate

_KEPT_BYTES = 128_000_000
_READS = frozenset(
    {"aggregate", "buildInfo", "buildinfo", "collStats", "connectionStatus", "count", "currentOp", "dbStats", "dbstats"}
    | {"distinct", "endSessions", "find", "getCmdLineOpts", "getLog", "getMore", "getParameter", "hello", "hostInfo"}
    | {"isMaster", "ismaster", "killCursors", "listCollections", "listDatabases", "listIndexes", "ping"}
    | {"refreshSessions", "replSetGetStatus", "saslContinue", "saslStart", "serverStatus", "startSession", "top"}
    | {"usersInfo", "whatsmyuri"}
)
"""Commands after which every collection is as before; any other one may have written."""


class _Changes:
    """Tell whether anything may have been written between two moments."""

    def __init__(self):
        self._lock = threading.Lock()
        self._writers = 0
        self._epoch = 0

    def now(self):
        """Return a mark that stays the same as long as nothing is written; None while something is."""
        with self._lock:
            return None if self._writers else self._epoch

    def __enter__(self):
        with self._lock:
            self._writers += 1
            self._epoch += 1

    def __exit__(self, *_exc):
        with self._lock:
            self._writers -= 1
            self._epoch += 1


class _Kept:
    """The encoded documents of the collections read last, each with the mark it was read under."""

    def __init__(self, changes):
        self._changes = changes
        self._lock = threading.Lock()
        self._scans = OrderedDict()
        self._size_bytes = 0

    def get(self, storage, db, coll):
        """Return the scan of a collection, or None when something is or may have been written."""
        mark = self._changes.now()
        with self._lock:
            kept = self._scans.get((storage, db, coll))
            if kept and mark is not None and kept[0] == mark:
                self._scans.move_to_end((storage, db, coll))
                return kept[1]
        return None

    def put(self, storage, db, coll, mark, scan):
        size_bytes = sum(len(blob) for _, _, blob in scan) + 200 * len(scan)
        if self._changes.now() != mark or size_bytes > _KEPT_BYTES:
            return
        with self._lock:
            self._forget((storage, db, coll))
            self._scans[storage, db, coll] = (mark, scan, size_bytes)
            self._size_bytes += size_bytes
            while self._size_bytes > _KEPT_BYTES:
                self._forget(next(iter(self._scans)))

    def _forget(self, key):
        kept = self._scans.pop(key, None)
        if kept:
            self._size_bytes -= kept[2]


_changes = _Changes()
_kept = _Kept(_changes)


def _scan(self, db, coll):
    if getattr(self._tls, "user_txn", None) is not None:  # a transaction sees its own state
        return _scan_stock(self, db, coll)
    kept = _kept.get(self, db, coll)
    if kept is not None:
        return kept
    mark = _changes.now()
    if mark is None:
        return _scan_stock(self, db, coll)
    self._refresh_read_snapshot()  # after the mark was taken, or an older state could be kept under it
    scan = list(_scan_stock(self, db, coll))
    _kept.put(self, db, coll, mark, scan)
    return scan


def _count(self, db, coll, filter=None, **options):
    if filter or not _is_stored(self, db, coll):
        return _count_matching_stock(self, db, coll, filter, **options)
    self._refresh_read_snapshot()
    with self._lock:
        scan = self._scan_docs_natural(db, coll)
        return len(scan) if isinstance(scan, list) else sum(1 for _ in scan)


def _is_stored(storage, db, coll):
    """Tell a collection with documents of its own from what the engine makes up when asked."""
    return not (
        storage._is_oplog_rs(db, coll) or storage._is_system_users(db, coll) or storage._is_system_version(db, coll)
    )


def _guarded(handler):
    def guarded(doc, ctx):
        with _changes:
            return handler(doc, ctx)

    return guarded


def _writes(pipeline):
    return not isinstance(pipeline, list) or any(
        isinstance(stage, Mapping) and ("$out" in stage or "$merge" in stage) for stage in pipeline
    )


@patch()
def unchanged_collections_are_scanned_once():
    def aggregate(doc, ctx):
        if _writes(doc.get("pipeline")):
            with _changes:
                return C._aggregate(doc, ctx)
        return C._aggregate(doc, ctx)

    def prune_ttl(self, db, coll, **options):
        with _changes:
            return _prune_ttl_stock(self, db, coll, **options)

    for name, handler in list(C._HANDLERS.items()):
        if name not in _READS:
            C._HANDLERS[name] = _guarded(handler)
    C._HANDLERS["aggregate"] = aggregate
    S.Storage._scan_docs_natural = _scan
    S.Storage.count_matching = _count
    S.Storage.prune_ttl = prune_ttl


@patch()
def an_empty_filter_matches_at_once():
    def matches(doc, filter, **options):
        return not filter or _matches_stock(doc, filter, **options)

    S.matches = matches


_wish = threading.local()
"""How many documents the aggregation of this thread needs from its collection, until the first fetch takes it."""
_ONE_TO_ONE = frozenset({"$project", "$addFields", "$set", "$unset", "$replaceRoot", "$replaceWith"})


def _documents_needed(pipeline):
    """Count the documents that a pipeline needs from its collection; None where it may need all."""
    skipped = 0
    for at, stage in enumerate(pipeline if isinstance(pipeline, list) else ()):
        if not isinstance(stage, Mapping) or len(stage) != 1:
            return None
        name, value = next(iter(stage.items()))
        if name in ("$skip", "$limit") and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            return None
        if name == "$limit":
            return skipped + value if value else None
        if name == "$skip":
            skipped += value
        elif name not in _ONE_TO_ONE and not (name == "$match" and at == 0):
            return None
    return None


@patch()
def a_limit_ends_the_scan():
    def aggregate(doc, ctx):
        _wish.of = (ctx.db_name, doc["aggregate"], _documents_needed(doc.get("pipeline")))
        try:
            return _aggregate_stock(doc, ctx)
        finally:
            _wish.of = None

    C._aggregate = aggregate
    if C._HANDLERS["aggregate"] is _aggregate_stock:
        C._HANDLERS["aggregate"] = aggregate
    S.Storage.find_matching = _find


def _find(self, db, coll, filter=None, *, skip=0, limit=0, let=None, collation=None, **options):
    wished, _wish.of = getattr(_wish, "of", None), None
    needed = skip + limit if limit > 0 else 0
    if not needed and not skip and wished and wished[:2] == (db, coll):
        needed = wished[2] or 0
    if needed and not any(options.values()) and _is_stored(self, db, coll):
        if not filter:
            return _slice(self, db, coll, skip, needed)
        found = _first(self, db, coll, filter, needed, let, parse_collation(collation))
        if found is not None:
            return found[skip:]
    return _find_matching_stock(self, db, coll, filter, skip=skip, limit=limit, let=let, collation=collation, **options)


def _slice(self, db, coll, start, end):
    self._refresh_read_snapshot()
    with self._lock:
        blobs = [blob for _, _, blob in itertools.islice(_lazily(self, db, coll), start, end)]
    return [S.bson.decode(blob) for blob in blobs]


def _first(self, db, coll, filter, needed, let, collation):
    """Return the first documents that match, in natural order; None where an index knows better."""
    self._refresh_read_snapshot()
    found = []
    with self._lock:
        if self._try_index_lookup(db, coll, filter, collation=collation) is not None:
            return None
        for _, _, blob in _lazily(self, db, coll):
            S._deadline.check()
            doc = S.bson.decode(blob)
            if S.matches(doc, filter, vars=let, collation=collation):
                found.append(doc)
                if len(found) == needed:
                    break
    return found


def _lazily(self, db, coll):
    """Scan as far as needed only, unless the whole scan is at hand."""
    kept = None if getattr(self._tls, "user_txn", None) is not None else _kept.get(self, db, coll)
    return _scan_stock(self, db, coll) if kept is None else kept
