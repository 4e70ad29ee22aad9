"""The tables of recount lakes as views of a DuckDB connection.

    import duckdb, recount_lake
    connection = duckdb.connect()
    recount_lake.register(connection, "/srv/lake")
    connection.sql("SELECT host, sum(cost_microusd) FROM requests GROUP BY host").show()

A lake is a folder; with DuckDB's extension `httpfs` (or `azure`) loaded and its secrets set, it is
any URL that the extension reads. Of each host and user the newest whole manifest counts, and of the
files those that it names: what a write has not finished is not seen. A lake without manifests, as
the Spark job writes it, is read by its folders.
"""

import json

SCHEMA = 2


def register(connection, *lakes):
    """Makes a view of each table over all these lakes, and gives back their names."""
    files, loose = {}, {}
    for lake in (str(lake).rstrip("/") for lake in lakes):
        manifests = _newest(connection, lake)
        for manifest in manifests:
            for partition in manifest["partitions"]:
                paths = [f"{lake}/{file['path']}" for file in partition["files"]]
                files.setdefault(partition["table"], []).extend(paths)
        if not manifests:
            for table, paths in _loose(connection, lake).items():
                loose.setdefault(table, []).extend(paths)
    tables = sorted(files.keys() | loose.keys())
    if not tables:
        raise ValueError(f"no tables in {', '.join(map(str, lakes))}: is it a lake of recount?")
    for table in tables:
        parts = [_scan(paths, hive) for paths, hive in
                 ((files.get(table), "false"), (loose.get(table), "true")) if paths]
        rows = " UNION ALL BY NAME ".join(parts)
        # Times are UTC, and stay so: DuckDB would show them in the zone of the computer.
        times = [column[0] for column in connection.execute(f"DESCRIBE {rows}").fetchall()
                 if column[1] == "TIMESTAMP WITH TIME ZONE"]
        plain = ", ".join(f'make_timestamp(epoch_us("{time}")) AS "{time}"' for time in times)
        columns = f"* REPLACE ({plain})" if times else "*"
        connection.execute(f'CREATE OR REPLACE VIEW "{table}" AS SELECT {columns} FROM ({rows})')
    return tables


def _scan(paths, hive):
    names = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    return (f"SELECT * FROM read_parquet([{names}], union_by_name = true, "
            f"hive_partitioning = {hive}, hive_types_autocast = false)")


def _newest(connection, lake):
    """The newest whole manifest of each host and user."""
    try:
        found = connection.execute(
            "SELECT filename, content FROM read_text(?) ORDER BY filename",
            [f"{lake}/manifest/*/*/*.json"],
        ).fetchall()
    except Exception as error:  # DuckDB has no kind of its own for "no such files".
        if "No files found" not in str(error):
            raise
        found = []
    newest = {}
    for name, content in found:
        try:
            manifest = json.loads(content)
        except ValueError:
            continue
        newest[manifest["host"], manifest["user"]] = (name, manifest)
    for name, manifest in newest.values():
        if manifest["schema"] != SCHEMA:
            raise ValueError(
                f"{name} is of version {manifest['schema']} of the tables, not {SCHEMA}: "
                "bring recount up to date there and write the lake again"
            )
    return [manifest for _, manifest in newest.values()]


def _loose(connection, lake):
    """The files of a lake without manifests, by table."""
    found = connection.execute("SELECT file FROM glob(?)", [f"{lake}/*/month=*/host=*/*.parquet"])
    tables = {}
    for (path,) in found.fetchall():
        tables.setdefault(path[len(lake) + 1:].split("/")[0], []).append(path)
    return tables
