//! Rows as a Parquet file, and back.
//!
//! Columns are written one after the other without Arrow: thirteen packages less, and the rows are
//! ours anyway. All columns are flat, so a definition level is 1 for a value and 0 for none.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use store::table::{Column, Kind, Row, Table, Value};

use crate::error::LakeError;

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 16;
/// Bytes of texts of a row group, before they are compressed.
const GROUP_BYTES: usize = 32 << 20;
/// A further file is begun after so many bytes.
const FILE_BYTES: usize = 64 << 20;
const ZSTD_LEVEL: i32 = 3;

/// A file that is being written, in memory.
pub struct FileWriter {
    table: &'static Table,
    columns: Vec<Cells>,
    /// Of the open row group.
    group_rows: usize,
    group_bytes: usize,
    rows: u64,
    file: SerializedFileWriter<Vec<u8>>,
}

/// The values of a column in the open row group.
struct Cells {
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    Text(Vec<ByteArray>),
    Number(Vec<i64>),
    Boolean(Vec<bool>),
}

impl FileWriter {
    /// An empty file of a table.
    pub fn new(table: &'static Table) -> std::result::Result<Self, LakeError> {
        let failed = |source| LakeError::Parquet { table: table.name, source };
        let properties = properties(table).map_err(failed)?;
        let schema = schema(table).map_err(failed)?;
        let file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties));
        let columns = table.columns.iter().map(|column| Cells::new(column.kind)).collect();
        let file = file.map_err(failed)?;
        Ok(Self { table, columns, group_rows: 0, group_bytes: 0, rows: 0, file })
    }

    /// Adds a row.
    pub fn push(&mut self, row: Row) -> std::result::Result<(), LakeError> {
        let misfit = |column| LakeError::Misfit { table: self.table.name, column };
        if row.len() != self.table.columns.len() {
            return Err(misfit(""));
        }
        for ((value, column), cells) in
            row.into_iter().zip(self.table.columns).zip(&mut self.columns)
        {
            self.group_bytes += if let Value::Text(text) = &value { text.len() } else { 0 };
            cells.push(value, column).ok_or_else(|| misfit(column.name))?;
        }
        self.group_rows += 1;
        self.rows += 1;
        if self.group_rows >= GROUP_ROWS || self.group_bytes >= GROUP_BYTES {
            self.end_group()?;
        }
        Ok(())
    }

    /// Whether the next row belongs in a further file.
    pub fn is_full(&self) -> bool {
        self.group_rows == 0 && self.file.bytes_written() >= FILE_BYTES
    }

    /// The file, and how many rows it has.
    pub fn finish(mut self) -> std::result::Result<(Vec<u8>, u64), LakeError> {
        self.end_group()?;
        let failed = |source| LakeError::Parquet { table: self.table.name, source };
        Ok((self.file.into_inner().map_err(failed)?, self.rows))
    }

    fn end_group(&mut self) -> std::result::Result<(), LakeError> {
        let written = match self.group_rows {
            0 => Ok(()),
            _ => write_group(&mut self.file, self.table, &mut self.columns),
        };
        (self.group_rows, self.group_bytes) = (0, 0);
        written.map_err(|source| LakeError::Parquet { table: self.table.name, source })
    }
}

fn write_group(
    file: &mut SerializedFileWriter<Vec<u8>>,
    table: &Table,
    columns: &mut [Cells],
) -> Result<()> {
    let mut group = file.next_row_group()?;
    for (column, cells) in table.columns.iter().zip(columns) {
        let writer = group.next_column()?;
        let mut writer = writer.ok_or_else(|| ParquetError::EOF("columns".into()))?;
        cells.write(&mut writer, may_be_none(column))?;
        writer.close()?;
    }
    group.close().map(drop)
}

impl Cells {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Text => Values::Text(Vec::new()),
            Kind::Integer | Kind::Time => Values::Number(Vec::new()),
            Kind::Boolean => Values::Boolean(Vec::new()),
        };
        Self { levels: Vec::new(), values }
    }

    /// Adds a value; nothing if it is of another kind than the column.
    fn push(&mut self, value: Value, column: &Column) -> Option<()> {
        self.levels.push(i16::from(value != Value::Null));
        match (value, column.kind, &mut self.values) {
            (Value::Null, ..) => return may_be_none(column).then_some(()),
            (Value::Text(text), Kind::Text, Values::Text(all)) => {
                all.push(text.into_bytes().into())
            }
            (Value::Integer(number), Kind::Integer, Values::Number(all))
            | (Value::Time(number), Kind::Time, Values::Number(all)) => all.push(number),
            (Value::Boolean(is), Kind::Boolean, Values::Boolean(all)) => all.push(is),
            _ => return None,
        }
        Some(())
    }

    /// Writes everything and forgets it.
    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>, is_optional: bool) -> Result<()> {
        let levels = is_optional.then_some(&*self.levels);
        match &mut self.values {
            Values::Text(all) => write::<ByteArrayType>(writer, all, levels)?,
            Values::Number(all) => write::<Int64Type>(writer, all, levels)?,
            Values::Boolean(all) => write::<BoolType>(writer, all, levels)?,
        }
        self.levels.clear();
        Ok(())
    }
}

fn write<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    levels: Option<&[i16]>,
) -> Result<()> {
    writer.typed::<T>().write_batch(values, levels, None)?;
    values.clear();
    Ok(())
}

fn properties(table: &Table) -> Result<WriterProperties> {
    let mut properties = WriterProperties::builder()
        // Its encodings for what repeats little: differences of numbers, common beginnings of texts.
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        // Those of pages are larger than what they save in files of this size.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by("recount".into());
    for column in table.columns {
        // Times and places rise, and a list of all of them would come first.
        if matches!(column.kind, Kind::Integer | Kind::Time) {
            properties = properties.set_column_dictionary_enabled(column.name.into(), false);
        }
    }
    Ok(properties.build())
}

/// Texts are left out of most lakes; all have the same columns.
const fn may_be_none(column: &Column) -> bool {
    column.is_optional || column.is_text
}

fn schema(table: &Table) -> Result<TypePtr> {
    let fields = table.columns.iter().map(|column| field(column).map(Arc::new));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    Type::group_type_builder(table.name).with_fields(fields).build().map(Arc::new)
}

fn field(column: &Column) -> Result<Type> {
    let (physical, logical) = match column.kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Integer => (Physical::INT64, None),
        Kind::Boolean => (Physical::BOOLEAN, None),
        Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
    };
    let repetition = match may_be_none(column) {
        true => Repetition::OPTIONAL,
        false => Repetition::REQUIRED,
    };
    let builder = Type::primitive_type_builder(column.name, physical);
    builder.with_repetition(repetition).with_logical_type(logical).build()
}

/// The rows of a file, a row group in memory at a time. An error says what is wrong with the file.
pub struct Rows {
    file: SerializedFileReader<Bytes>,
    table: &'static Table,
    next: usize,
    group: std::vec::IntoIter<Row>,
}

impl Rows {
    /// Those of a file of a table.
    pub fn new(bytes: Bytes, table: &'static Table) -> std::result::Result<Self, String> {
        let file = SerializedFileReader::new(bytes).map_err(|error| error.to_string())?;
        check(&file, table)?;
        Ok(Self { file, table, next: 0, group: Vec::new().into_iter() })
    }
}

impl Iterator for Rows {
    type Item = std::result::Result<Row, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.group.next() {
                return Some(Ok(row));
            }
            if self.next == self.file.num_row_groups() {
                return None;
            }
            let group = self.file.get_row_group(self.next);
            self.next += 1;
            match group.and_then(|group| rows(&*group, self.table)) {
                Ok(rows) => self.group = rows.into_iter(),
                Err(error) => {
                    self.next = self.file.num_row_groups();
                    return Some(Err(error.to_string()));
                }
            }
        }
    }
}

/// How many rows a file of a table says it has; the error says what is wrong with it.
pub fn count(bytes: Bytes, table: &Table) -> std::result::Result<u64, String> {
    let file = SerializedFileReader::new(bytes).map_err(|error| error.to_string())?;
    check(&file, table)?;
    u64::try_from(file.metadata().file_metadata().num_rows()).map_err(|error| error.to_string())
}

fn check(file: &SerializedFileReader<Bytes>, table: &Table) -> std::result::Result<(), String> {
    let wanted = schema(table).map_err(|error| error.to_string())?;
    let found = file.metadata().file_metadata().schema();
    let (wanted, found) = (wanted.get_fields(), found.get_fields());
    let other = wanted.iter().zip(found).find(|(wanted, found)| wanted != found);
    match other {
        Some((wanted, _)) => Err(format!("its column `{}` is another", wanted.name())),
        None if wanted.len() != found.len() => {
            Err(format!("it has {} columns, not {}", found.len(), wanted.len()))
        }
        None => Ok(()),
    }
}

fn rows(group: &dyn RowGroupReader, table: &Table) -> Result<Vec<Row>> {
    let count = usize::try_from(group.metadata().num_rows())
        .map_err(|error| ParquetError::External(Box::new(error)))?;
    let mut rows: Vec<Row> = Vec::new();
    rows.resize_with(count, || Vec::with_capacity(table.columns.len()));
    for (index, column) in table.columns.iter().enumerate() {
        let mut values = cells(group, index, column, count)?.into_iter();
        for row in &mut rows {
            row.push(values.next().ok_or_else(|| ParquetError::EOF(column.name.into()))?);
        }
    }
    Ok(rows)
}

fn cells(
    group: &dyn RowGroupReader,
    index: usize,
    column: &Column,
    count: usize,
) -> Result<Vec<Value>> {
    match column.kind {
        Kind::Text => typed::<ByteArrayType>(group, index, column, count, |bytes| {
            Ok(Value::Text(bytes.as_utf8()?.into()))
        }),
        Kind::Integer => {
            typed::<Int64Type>(group, index, column, count, |n| Ok(Value::Integer(*n)))
        }
        Kind::Time => typed::<Int64Type>(group, index, column, count, |n| Ok(Value::Time(*n))),
        Kind::Boolean => {
            typed::<BoolType>(group, index, column, count, |is| Ok(Value::Boolean(*is)))
        }
    }
}

fn typed<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
    column: &Column,
    count: usize,
    value: impl Fn(&T::T) -> Result<Value>,
) -> Result<Vec<Value>> {
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(index)?);
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < count {
        let (now, ..) = reader.read_records(count - read, Some(&mut levels), None, &mut values)?;
        if now == 0 {
            return Err(ParquetError::EOF(column.name.into()));
        }
        read += now;
    }
    if !may_be_none(column) {
        return values.iter().map(value).collect();
    }
    let mut values = values.iter();
    let mut one = |level: &i16| match level {
        0 => Ok(Value::Null),
        _ => value(values.next().ok_or_else(|| ParquetError::EOF(column.name.into()))?),
    };
    levels.iter().map(&mut one).collect()
}
