"""The tables of recount lakes as views of a Spark session.

    import recount_lake
    recount_lake.register(spark, "s3a://team/lake")
    spark.sql("SELECT host, sum(cost_microusd) FROM requests GROUP BY host").show()

A lake is a folder or any URL that Spark reads. Of each host and user the newest whole manifest
counts, and of the files those that it names: what a write has not finished is not seen. A lake
without manifests, as `parse.py` writes it, is read by its folders.
"""

import json

SCHEMA = 2


def register(spark, *lakes):
    """Makes a view of each table over all these lakes, and gives back their names."""
    # Times are UTC, and `2026-11` stays the text that it is.
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    frames = {}
    for lake in (str(lake).rstrip("/") for lake in lakes):
        manifests = _newest(spark, lake)
        files = {}
        for manifest in manifests:
            for partition in manifest["partitions"]:
                paths = [f"{lake}/{file['path']}" for file in partition["files"]]
                files.setdefault(partition["table"], []).extend(paths)
        for table, paths in files.items():
            frames.setdefault(table, []).append(spark.read.parquet(*paths))
        for table in [] if manifests else _folders(spark, lake):
            frame = spark.read.option("basePath", f"{lake}/{table}").parquet(f"{lake}/{table}")
            frames.setdefault(table, []).append(frame)
    if not frames:
        raise ValueError(f"no tables in {', '.join(map(str, lakes))}: is it a lake of recount?")
    for table, parts in frames.items():
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.unionByName(part)
        whole.createOrReplaceTempView(table)
    return sorted(frames)


def _newest(spark, lake):
    """The newest whole manifest of each host and user."""
    if not _list(spark, f"{lake}/manifest/*/*/*.json"):
        return []
    found = spark.sparkContext.wholeTextFiles(f"{lake}/manifest/*/*/*.json").collect()
    newest = {}
    for name, content in sorted(found):
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


def _folders(spark, lake):
    """The tables of a lake without manifests."""
    found = _list(spark, f"{lake}/*/month=*")
    return sorted({path.split("/")[-2] for path in found})


def _list(spark, pattern):
    """What a pattern stands for, on whatever file system it is."""
    java = spark.sparkContext._jvm
    path = java.org.apache.hadoop.fs.Path(pattern)
    system = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    return [str(status.getPath()) for status in system.globStatus(path) or []]
