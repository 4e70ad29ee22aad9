CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

-- What is replaced together; an empty stamp means that it is not whole.
CREATE TABLE unit (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    stamp BLOB NOT NULL
);

-- Whose rows they are, and where in the archive their texts are.
CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL,
    host TEXT NOT NULL,
    user TEXT NOT NULL,
    session TEXT NOT NULL,
    agent TEXT,
    generation INTEGER
);
CREATE INDEX source_unit ON source (unit);
CREATE INDEX source_session ON source (session);

-- A digest of the rows that a unit has in a month of a table.
CREATE TABLE held (
    unit INTEGER NOT NULL,
    name TEXT NOT NULL,
    month TEXT NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (unit, name, month)
) WITHOUT ROWID;
CREATE INDEX held_month ON held (name, month);

-- The write that last changed a month of a table.
CREATE TABLE changed (
    name TEXT NOT NULL,
    month TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (name, month)
) WITHOUT ROWID;

