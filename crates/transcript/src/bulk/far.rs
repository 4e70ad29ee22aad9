//! Lines that are too long to hold.
//!
//! The reader cuts their strings down, so the places of what is found in them are not the places
//! in the file. But the strings are the same, one after the other: a value is named by its number
//! among them, and the line is read again, as often as needed, without ever being held.
//!
//! A read is not compared here, its text was cut: it stays.

use std::io::{self, Read, Write};

use crate::line::Line;

use super::{Bulk, BulkKind, Choice, of_line};

/// Read at once.
const BLOCK: usize = 256 << 10;

/// The bulk of a line that was cut down, with its true sizes, each with its number.
/// `file` reads the line anew.
pub fn of_condensed<'a>(line: Line<'a>, file: impl Read) -> io::Result<Vec<(u64, Bulk<'a>)>> {
    let mut found: Vec<(u64, Bulk<'a>)> = of_line(line)
        .into_iter()
        .filter(|bulk| bulk.kind != BulkKind::Read)
        .filter_map(|bulk| Some((number_at(line.bytes, bulk.place.start)?, bulk)))
        .collect();
    found.iter_mut().for_each(|(_, bulk)| bulk.bytes = 0);
    let mut next = 0;
    strings(file, |number, part| {
        while found.get(next).is_some_and(|(of, _)| *of < number) {
            next += 1;
        }
        if let Some((of, bulk)) = found.get_mut(next)
            && *of == number
            && let Part::Inside(bytes) = part
        {
            bulk.bytes += bytes.len() as u64;
        }
        Ok(())
    })?;
    Ok(found)
}

/// Writes such a line without what is chosen.
pub fn clean(
    file: impl Read,
    bulk: &[(u64, Bulk<'_>)],
    choice: Choice,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut chosen = bulk.iter().filter(|(_, bulk)| choice.takes(bulk.kind)).peekable();
    strings(file, |number, part| {
        while chosen.peek().is_some_and(|(of, _)| *of < number) {
            chosen.next();
        }
        let removed = chosen.peek().filter(|(of, _)| *of == number).map(|(_, bulk)| bulk);
        match (part, removed) {
            (Part::Open, Some(bulk)) => out.write_all(bulk.stand_in().as_bytes()),
            (Part::Inside(_) | Part::Close, Some(_)) => Ok(()),
            (Part::Open | Part::Close, None) => out.write_all(b"\""),
            (Part::Inside(bytes) | Part::Outside(bytes), _) => out.write_all(bytes),
        }
    })
}

/// A part of JSON text.
enum Part<'a> {
    /// Between strings.
    Outside(&'a [u8]),
    /// The quote that begins a string.
    Open,
    /// Some of a string, undecoded.
    Inside(&'a [u8]),
    /// The quote that ends it.
    Close,
}

/// The number of the string that begins at `place`, from 1; `None` if none does, as in the rest of
/// a damaged line.
fn number_at(bytes: &[u8], place: usize) -> Option<u64> {
    let mut last = None;
    let read = strings(&bytes[..=place], |number, part| {
        last = matches!(part, Part::Open).then_some(number);
        Ok(())
    });
    read.ok().and(last)
}

/// Gives the parts of JSON text, those of a string with its number, from 1; what is outside has
/// the number 0.
fn strings(
    mut input: impl Read,
    mut give: impl FnMut(u64, Part<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    let (mut number, mut in_string, mut escaped) = (0, false, false);
    loop {
        let length = match input.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut from = 0;
        for (at, &byte) in block[..length].iter().enumerate() {
            if std::mem::take(&mut escaped) {
                continue;
            }
            escaped = in_string && byte == b'\\';
            if byte != b'"' {
                continue;
            }
            if in_string {
                give(number, Part::Inside(&block[from..at]))?;
                give(number, Part::Close)?;
            } else {
                number += 1;
                give(0, Part::Outside(&block[from..at]))?;
                give(number, Part::Open)?;
            }
            (in_string, from) = (!in_string, at + 1);
        }
        let rest = &block[from..length];
        match in_string {
            _ if rest.is_empty() => {}
            true => give(number, Part::Inside(rest))?,
            false => give(0, Part::Outside(rest))?,
        }
    }
}
