-- Everything that is kept. Names are bytes, since a file's name may be any. Tables with few
-- rows have no index: each is a page of a small archive.
CREATE TABLE home (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL
) STRICT;

CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    home INTEGER NOT NULL REFERENCES home,
    rel BLOB NOT NULL,
    UNIQUE (home, rel)
) STRICT;

-- Names that files had before they were moved.
CREATE TABLE former (
    file INTEGER NOT NULL REFERENCES file,
    home INTEGER NOT NULL REFERENCES home,
    rel BLOB NOT NULL,
    until INTEGER NOT NULL
) STRICT;

-- One life of a file's content; the one with the highest number is the current one.
CREATE TABLE generation (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES file,
    number INTEGER NOT NULL,
    size INTEGER NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    begun INTEGER NOT NULL,
    ended INTEGER,
    ending TEXT CHECK (ending IN ('replaced', 'gone', 'moved')),
    head_length INTEGER NOT NULL,
    head BLOB NOT NULL,
    tail_length INTEGER NOT NULL,
    tail BLOB NOT NULL,
    -- When the file was made, in milliseconds; older archives get it when they are written to.
    created INTEGER,
    UNIQUE (file, number)
) STRICT;

-- Ids are never used twice: readers keep decoded packs by their id.
CREATE TABLE pack (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    raw INTEGER NOT NULL,
    level INTEGER NOT NULL,
    hash BLOB NOT NULL,
    data BLOB NOT NULL
) STRICT;

CREATE TABLE piece (
    generation INTEGER NOT NULL REFERENCES generation,
    "offset" INTEGER NOT NULL,
    length INTEGER NOT NULL,
    pack INTEGER NOT NULL REFERENCES pack,
    start INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (generation, "offset")
) STRICT, WITHOUT ROWID;

CREATE INDEX piece_by_hash ON piece (hash);
CREATE INDEX piece_by_pack ON piece (pack, start);

CREATE TABLE payload (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    raw INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;

-- Which packs need which payloads.
CREATE TABLE need (
    pack INTEGER NOT NULL REFERENCES pack,
    payload INTEGER NOT NULL REFERENCES payload,
    PRIMARY KEY (pack, payload)
) STRICT, WITHOUT ROWID;
