"""Everything that is asked of Spark, in one session on a cluster of two workers.

    ask_spark.py LAKE ARCHIVE PARSED RECOUNT < questions.json

Answers the questions, a JSON list, with a JSON line for each; then parses the archive to a lake
of its own and says of each table how many rows only one of the two lakes has.
"""

import datetime
import decimal
import json
import sys

import parse
import recount_lake
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, lit, sum, when

lake, archive, parsed, recount = sys.argv[1:]
spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    # A few thousand rows: making code for them takes longer than reading them.
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.adaptive.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def plain(value):
    """A value as `recount sql --json` has it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.") + f"{value.microsecond // 1000:03}"
    return value


tables = recount_lake.register(spark, lake)
for question in json.load(sys.stdin):
    print(json.dumps([[plain(value) for value in row] for row in spark.sql(question).collect()]))

executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()
print(json.dumps({"executors": executors - 1}))

parse.parse(spark, archive, parsed, recount)
written = {table: spark.table(table) for table in tables}
made = recount_lake.register(spark, parsed)
compared = None
for table in sorted(set(tables) & set(made)):
    columns = written[table].columns
    both = written[table].withColumn("side", lit(1)).unionByName(
        spark.table(table).withColumn("side", lit(-1)))
    # A row that both have as often adds up to nothing.
    one = both.groupBy(columns).agg(
        sum(col("side")).alias("side"), sum(when(col("side") > 0, 1).otherwise(0)).alias("rows"))
    one = one.agg(
        sum("rows").alias("rows"),
        sum(when(col("side") > 0, col("side")).otherwise(0)).alias("only_written"),
        sum(when(col("side") < 0, -col("side")).otherwise(0)).alias("only_parsed"),
    ).withColumn("table", lit(table))
    compared = one if compared is None else compared.unionByName(one)
for row in compared.collect():
    print(json.dumps(row.asDict()))
print(json.dumps({"tables": tables == made}))
spark.stop()
