CREATE TABLE IF NOT EXISTS number (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- How far each file of the archive has been read, and as what: nothing if it is no transcript.
-- `session` is whose it is, once all are joined, and `is_side` says that the session's own file is
-- another one. A search asks all this and the shape (see `Shape::save`) of hundreds of files: they
-- stand in short rows, many to a page.
CREATE TABLE IF NOT EXISTS file (
    id INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    size INTEGER NOT NULL,
    read_as TEXT,
    edition INTEGER NOT NULL,
    session TEXT,
    is_side INTEGER NOT NULL DEFAULT 0,
    has_copies INTEGER NOT NULL DEFAULT 0,
    shape BLOB
);

-- What reading a transcript left: see `Places::save` and `Card::save`.
CREATE TABLE IF NOT EXISTS transcript (
    file INTEGER PRIMARY KEY,
    places BLOB NOT NULL,
    card BLOB NOT NULL
);

-- What to read a transcript on with: see `Builder::save`. In parts, since a row is held in memory
-- more than once while it is written, and of a file of a gigabyte this is twenty megabytes.
CREATE TABLE IF NOT EXISTS state (
    file INTEGER NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (file, part)
);

-- What each life of a transcript claims was used: see `Claims::save`. What was once claimed stays,
-- also when the file is rewritten or gone.
CREATE TABLE IF NOT EXISTS claims (
    generation INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    size INTEGER NOT NULL,
    data BLOB NOT NULL
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
    entry INTEGER NOT NULL,
    time INTEGER,
    pr INTEGER,
    url TEXT NOT NULL,
    repository TEXT,
    PRIMARY KEY (file, number)
) WITHOUT ROWID;

-- The lines of `history.jsonl` of the current generation. `session` is NULL on lines that name
-- none and on those that can't be read.
CREATE TABLE IF NOT EXISTS typed (
    history INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    session TEXT,
    time INTEGER,
    PRIMARY KEY (history, offset)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS typed_session ON typed (session) WHERE session IS NOT NULL;

-- Sessions of which only prompts are left. One whose transcript has come back has no prompts
-- here, but keeps its row: the index may still have to forget it.
CREATE TABLE IF NOT EXISTS ghost (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    edition INTEGER NOT NULL,
    prompts INTEGER NOT NULL,
    title TEXT,
    project TEXT,
    first INTEGER,
    last INTEGER
);

-- What the last join of all files says of each transcript: see `Library::save_card`.
CREATE TABLE IF NOT EXISTS joined (
    file INTEGER PRIMARY KEY,
    digest BLOB NOT NULL,
    card BLOB NOT NULL
);

-- `item` is what the last join says of the session: see `Library::save_session`. The columns are
-- for questions in SQL.
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
    digest BLOB NOT NULL,
    item BLOB NOT NULL
) WITHOUT ROWID;

-- What a query's filters are asked of, by the number under which the index has the words.
CREATE VIEW IF NOT EXISTS owned AS
    SELECT f.id AS file, s.id AS id, s.project AS project, s.branch AS branch, s.models AS models
    FROM file f JOIN session s ON s.id = f.session
    UNION ALL
    SELECT g.id + 4294967296, g.session, g.project, NULL, '' FROM ghost g WHERE g.prompts > 0;

-- What happened lately is asked for by the status line, which has a few milliseconds.
CREATE INDEX IF NOT EXISTS session_last ON session (last);
CREATE INDEX IF NOT EXISTS file_session ON file (session);
