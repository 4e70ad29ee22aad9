//! x
use super::book::Book;
use std::io;
pub fn make(_book: &mut Book) -> io::Result<()> {
    Ok(())
}
