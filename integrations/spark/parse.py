"""A central archive of raw transcripts as a lake, parsed on a Spark cluster.

    spark-submit parse.py ARCHIVE LAKE [RECOUNT]

ARCHIVE/HOST/USER is a Claude folder, and every executor sees it under this path, as it sees the
program RECOUNT (default `recount`, on the PATH). The transcripts of one home go to one process,
which joins them; homes are shared out. The tables are written to LAKE/TABLE/month=M/host=H, as
`recount lake write` lays them, without a manifest: `recount_lake.register` reads them.
"""

import glob
import json
import subprocess
import sys

from pyspark.sql import SparkSession

KINDS = {"text": "STRING", "integer": "BIGINT", "boolean": "BOOLEAN", "time": "TIMESTAMP"}


def parse(spark, archive, lake, recount="recount"):
    """Writes the tables of all homes."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    homes = {}
    for path in glob.glob(f"{archive}/*/*/projects/**/*.jsonl", recursive=True):
        host, user = path[len(archive.rstrip("/")) + 1:].split("/")[:2]
        homes.setdefault((host, user), []).append(f"{host}\t{user}\t{path}")
    paths = spark.sparkContext.parallelize(list(homes.values()), max(len(homes), 1))
    rows = paths.flatMap(lambda home: home).pipe(f"{recount} lake rows", checkCode=True).cache()
    listed = subprocess.run([recount, "sql", "--tables", "--json"], capture_output=True, check=True)
    for line in listed.stdout.splitlines():
        table = json.loads(line)
        name, head = table["table"], json.dumps({"table": table["table"]}, separators=(",", ":"))[:-1]
        columns = ", ".join(f"`{c['column']}` {KINDS[c['kind']]}" for c in table["columns"])
        own = rows.filter(lambda row, head=head: row.startswith(head + ","))
        frame = spark.read.schema(columns).json(own)
        write = frame.write.mode("overwrite").option("compression", "zstd")
        write.partitionBy("month", "host").parquet(f"{lake}/{name}")


if __name__ == "__main__":
    parse(SparkSession.builder.appName("recount").getOrCreate(), *sys.argv[1:])
