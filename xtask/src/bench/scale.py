"""Made lakes of any size, and how long the engines take over them.

    scale.py make LAKE REQUESTS        writes a lake, without manifests
    scale.py dump LAKE < tables.json   prints its rows, each behind the name of its table
    scale.py duckdb LAKE < questions   answers with a JSON line for each: seconds and rows
    scale.py spark LAKE < questions    the same
"""

import json
import os
import sys
import time

HOSTS = 4
MONTHS = 12
# Tables, and how many rows they have for a hundred requests.
MADE = {
    "requests": 100,
    "calls": 60,
    "edits": 15,
    "sessions": 2,
    "segments": 3,
    "subagents": 1,
    "prs": 0.2,
}


def draw(salt, most, number="i"):
    """A number below `most` that belongs to the row."""
    return f"CAST(hash({number} * 31 + {salt}) % {most} AS BIGINT)"


def query(table, count):
    """The rows of a table."""
    # Each session has its place: host, month and project follow from its number.
    per = max(MADE[table] / MADE["sessions"], 1)
    session = f"CAST(floor(i / {per}) AS BIGINT)" if table != "prs" else "i * 10"
    when = (
        f"TIMESTAMP '2025-01-01 00:00:00' + INTERVAL 1 MONTH * ((s // {HOSTS}) % {MONTHS})"
        f" + INTERVAL 1 SECOND * {draw(1, 2_300_000, 's')} + INTERVAL 1 SECOND * (i % 50)"
    )
    head = (
        f"'host-' || (s % {HOSTS}) AS host, 'someone' AS user,"
        f" 'session-' || s AS session, strftime(t, '%Y-%m-%d') AS day,"
        f" strftime(t, '%Y-%m') AS month"
    )
    project = f"'/home/someone/project-' || {draw(2, 40, 's')}"
    agent = f"CASE WHEN {draw(3, 10)} = 0 THEN 'agent-' || s END"
    model = f"['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5'][1 + {draw(4, 3)}]"
    tool = f"['Bash', 'Read', 'Edit', 'Grep', 'Write', 'Task', 'Glob', 'WebFetch'][1 + {draw(5, 8)}]"
    failed = f"{draw(6, 20)} = 0"
    rest = {
        "requests": f"{agent} AS agent, 1 + {draw(7, 30)} AS turn, i AS entry, t AS time,"
        f" {project} AS project, {model} AS model, {draw(8, 3000)} AS input_tokens,"
        f" {draw(9, 4000)} AS output_tokens, {draw(10, 150_000)} AS cache_read_tokens,"
        f" {draw(11, 20_000)} AS cache_write_5m_tokens, 0 AS cache_write_1h_tokens,"
        f" {draw(12, 900_000)} AS cost_microusd, 'exact' AS confidence",
        "calls": f"{agent} AS agent, i AS entry, i AS call, t AS time, {tool} AS tool,"
        f" CASE WHEN {failed} THEN 'error' ELSE 'ok' END AS outcome, {failed} AS is_error,"
        f" {draw(13, 60_000)} AS latency_ms,"
        f" CASE WHEN {failed} THEN 'no such file number ' || {draw(14, 200)} END AS error_signature",
        "edits": f"i AS entry, i AS call, t AS time, 'Edit' AS tool,"
        f" {project} || '/src/file-' || {draw(15, 500)} AS file, {draw(16, 40)} AS lines_added,"
        f" {draw(17, 20)} AS lines_removed, false AS is_new, false AS is_estimated",
        "sessions": f"{project} AS project, t AS first_time, t AS last_time, 'whole' AS standing,"
        f" 1 + {draw(18, 30)} AS turns",
        "segments": f"i AS segment, t AS time, i % 3 = 0 AS is_compaction,"
        f" CASE WHEN i % 3 = 0 THEN 'auto' END AS compaction",
        "subagents": f"'agent-' || s AS agent, t AS time,"
        f" ['Explore', 'Plan', 'general-purpose'][1 + {draw(19, 3)}] AS kind",
        "prs": f"1 AS entry, t AS time, 'https://example.org/pull/' || (i % 5000) AS url",
    }[table]
    return (
        f"SELECT {head}, {rest} FROM (SELECT *, {when} AS t FROM"
        f" (SELECT range AS i, {session} AS s FROM range({count})))"
    )


def make(lake, requests):
    import duckdb

    os.makedirs(lake, exist_ok=True)
    connection = duckdb.connect()
    for table, share in MADE.items():
        connection.execute(
            f"COPY ({query(table, int(requests * share / 100))}) TO '{lake}/{table}'"
            " (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (month, host))"
        )


def dump(lake):
    import duckdb
    import recount_lake

    connection = duckdb.connect()
    made = recount_lake.register(connection, lake)
    for line in sys.stdin:
        table = json.loads(line)
        if table["table"] not in made:
            continue
        there = {row[0] for row in connection.execute(f"DESCRIBE {table['table']}").fetchall()}
        names = [column["column"] for column in table["columns"]]
        columns = ", ".join(name if name in there else f"NULL AS {name}" for name in names)
        rows = connection.execute(f"SELECT {columns} FROM {table['table']}")
        while parcel := rows.fetchmany(10_000):
            for row in parcel:
                values = [value_of(value) for value in row]
                sys.stdout.write("\t".join([table["table"], *values]) + "\n")


def value_of(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if hasattr(value, "timestamp"):
        return str(round((value - EPOCH).total_seconds() * 1000))
    return str(value)


def asked(answer):
    import decimal

    for question in json.load(sys.stdin):
        begun = time.monotonic()
        rows = answer(question)
        seconds = time.monotonic() - begun
        whole = lambda value: int(value) if isinstance(value, decimal.Decimal) else value
        plain = [{name: whole(value) for name, value in row.items()} for row in rows]
        print(json.dumps({"seconds": seconds, "rows": plain}), flush=True)


def duckdb_answers(lake):
    import duckdb
    import recount_lake

    connection = duckdb.connect()
    recount_lake.register(connection, lake)

    def answer(question):
        found = connection.execute(question)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row)) for row in found.fetchall()]

    asked(answer)


def spark_answers(lake):
    import recount_lake
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "2g")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    recount_lake.register(spark, lake)
    asked(lambda question: [row.asDict() for row in spark.sql(question).collect()])
    spark.stop()


if __name__ == "__main__":
    import datetime

    EPOCH = datetime.datetime(1970, 1, 1)
    command, lake, *more = sys.argv[1:]
    if command == "make":
        make(lake, int(more[0]))
    else:
        {"dump": dump, "duckdb": duckdb_answers, "spark": spark_answers}[command](lake)
