"""Asks DuckDB the questions of standard input, a JSON list; answers with a JSON line for each."""

import datetime
import decimal
import json
import sys

import duckdb
import recount_lake


def plain(value):
    """A value as `recount sql --json` has it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.") + f"{value.microsecond // 1000:03}"
    return value


connection = duckdb.connect()
recount_lake.register(connection, *sys.argv[1:])
for question in json.load(sys.stdin):
    rows = connection.execute(question).fetchall()
    print(json.dumps([[plain(value) for value in row] for row in rows]))
