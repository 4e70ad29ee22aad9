//! Opening and creating `archive.db`.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::Access;
use super::error::{ArchiveError, At};

/// `RCNT`: tells our database from others.
const APPLICATION: i64 = 0x5243_4e54;

/// The format of this version.
pub const FORMAT: i64 = 1;

/// How long one process waits for another to finish a transaction.
const WAIT: Duration = Duration::from_secs(10);

pub fn open(path: &Path, access: Access) -> Result<Connection, ArchiveError> {
    let connection = match access {
        Access::Write => open_write(path)?,
        Access::Read => open_read(path)?,
    };
    check(&connection, path)?;
    Ok(connection)
}

fn open_write(path: &Path) -> Result<Connection, ArchiveError> {
    create(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).at(path)?;
    connection.busy_timeout(WAIT).at(path)?;
    if connection.is_readonly(rusqlite::MAIN_DB).at(path)? {
        return Err(ArchiveError::ReadOnly { path: path.to_path_buf() });
    }
    prepare(&connection).at(path)?;
    Ok(connection)
}

/// An empty file that only its owner can read: it will hold what was said.
fn create(path: &Path) -> Result<(), ArchiveError> {
    match private().write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(ArchiveError::io(path, error)),
    }
}

/// How files are made that hold what was said: only their owner can read them.
pub fn private() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Settings, and the tables if the file is empty.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if pages == 0 {
        // Half of a page is lost behind every blob: 8 KB pages made the whole 1 % larger.
        connection.pragma_update(None, "page_size", 4096)?;
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // What was said to be kept is kept, even if the power fails right after.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        transaction.execute_batch(include_str!("schema.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    } else if is_ours(&transaction)? && !has_created(&transaction)? {
        // No other format: a version that does not know the column works with it as well.
        transaction.execute_batch("ALTER TABLE generation ADD COLUMN created INTEGER")?;
    }
    transaction.commit()
}

/// Whether it is an archive, and none of a newer version.
fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(number("application_id")? == APPLICATION && number("user_version")? <= FORMAT)
}

/// Whether it is remembered when files were made.
pub fn has_created(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM pragma_table_info('generation') WHERE name = 'created'";
    connection.query_row(sql, [], |row| Ok(row.get::<_, i64>(0)? > 0))
}

fn open_read(path: &Path) -> Result<Connection, ArchiveError> {
    fs::metadata(path).map_err(|error| ArchiveError::io(path, error))?;
    connect_read(path).at(path)
}

/// A database that is made of the archive, for writing.
pub fn connect_write(path: &Path) -> rusqlite::Result<Connection> {
    // What SQLite makes itself everybody can read; why it can't be made is its to tell.
    let _ = private().append(true).create(true).open(path);
    let connection = Connection::open(path)?;
    connection.busy_timeout(WAIT)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // It can be made again: an outage may take the last seconds.
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(connection)
}

/// A database for reading, also where nothing can be written.
pub fn connect_read(path: &Path) -> rusqlite::Result<Connection> {
    read_shared(path).or_else(|error| {
        // In a folder that can't be written there is no place for the shared memory of readers
        // and writers; but nobody writes there either, unless a log is left that is not in yet.
        if has_log(path) { Err(error) } else { read_alone(path).map_err(|_| error) }
    })
}

fn read_shared(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    usable(Connection::open_with_flags(path, flags)?)
}

fn read_alone(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    usable(Connection::open_with_flags(uri(path), flags)?)
}

/// SQLite opens lazily: only a first query says whether the file can be read.
fn usable(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(WAIT)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

fn uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            _ => write!(uri, "%{byte:02X}").expect("a string takes all"),
        }
    }
    uri + "?immutable=1"
}

fn check(connection: &Connection, path: &Path) -> Result<(), ArchiveError> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = number("application_id").at(path)?;
    // What is left of one that could not be made.
    if application == 0 && number("page_count").at(path)? <= 1 {
        return Err(ArchiveError::NotThere { path: path.to_path_buf() });
    }
    if application != APPLICATION {
        return Err(ArchiveError::damaged(path, "it is not an archive of this program"));
    }
    let found = number("user_version").at(path)?;
    if found > FORMAT {
        return Err(ArchiveError::Newer { path: path.to_path_buf(), found, known: FORMAT });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_read_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("50% #1?.db");
        drop(open(&path, Access::Write).expect("opens"));
        assert!(!has_log(&path));
        let alone = read_alone(&path).expect("opens");
        check(&alone, &path).expect("is one");
        let files = fs::read_dir(folder.path()).expect("lists").count();
        assert_eq!(files, 1, "nothing is made beside it");
    }
}
