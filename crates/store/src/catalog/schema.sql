CREATE TABLE IF NOT EXISTS number (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- How far each file of the archive has been read, and as what: nothing if it is no transcript.
-- `session` is whose it is, once all are joined.
CREATE TABLE IF NOT EXISTS file (
    id INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    size INTEGER NOT NULL,
    read_as TEXT,
    edition INTEGER NOT NULL,
    session TEXT
);

-- What reading a transcript left: see `Builder::save`, `Card::save`, `Shape::save`.
CREATE TABLE IF NOT EXISTS transcript (
    file INTEGER PRIMARY KEY,
    state BLOB NOT NULL,
    card BLOB NOT NULL,
    shape BLOB NOT NULL,
    places BLOB NOT NULL,
    has_copies INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS touch (
    file INTEGER NOT NULL,
    number INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    time INTEGER,
    path TEXT NOT NULL,
    tool TEXT NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (file, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS touch_path ON touch (path);

CREATE TABLE IF NOT EXISTS commit_made (
    file INTEGER NOT NULL,
    number INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    time INTEGER,
    hash TEXT NOT NULL,
    branch TEXT,
    subject TEXT,
    PRIMARY KEY (file, number)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS pr (
    file INTEGER NOT NULL,
    number INTEGER NOT NULL,
    time INTEGER,
    pr INTEGER,
    url TEXT NOT NULL,
    repository TEXT,
    PRIMARY KEY (file, number)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS session (
    id TEXT PRIMARY KEY,
    file INTEGER,
    standing TEXT NOT NULL,
    title TEXT,
    title_source TEXT,
    project TEXT,
    branch TEXT,
    first INTEGER,
    last INTEGER,
    turns INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    files INTEGER NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    models TEXT NOT NULL,
    digest BLOB NOT NULL
) WITHOUT ROWID;
