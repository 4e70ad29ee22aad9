//! Tables that are Markdown and still read well on a terminal.

/// Rows of cells under a head; all columns but the first are numbers, set to the right.
#[derive(Debug, Clone)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|&h| h.into()).collect(), rows: Vec::new() }
    }

    /// Adds a row; what is missing at its end is empty.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.head.len(), String::new());
        self.rows.push(cells);
    }

    /// The table as text.
    pub fn text(&self) -> String {
        let widths: Vec<usize> = (0..self.head.len()).map(|column| self.width(column)).collect();
        let mut out = line(&self.head, &widths);
        for (column, width) in widths.iter().enumerate() {
            let rule = "-".repeat(width + 1);
            out += &if column == 0 { format!("|{rule}-") } else { format!("|{rule}:") };
        }
        out += "|\n";
        self.rows.iter().fold(out, |out, row| out + &line(row, &widths))
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().chain([&self.head]);
        cells.map(|row| row[column].chars().count()).max().unwrap_or(0).max(1)
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        out += &match column {
            0 => format!("| {cell:<width$} "),
            _ => format!("| {cell:>width$} "),
        };
    }
    out + "|\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["what", "s", "×"]);
        table.row(vec!["wc -l".into(), "0.10".into(), "1.0".into()]);
        table.row(vec!["recount list".into(), "not available yet".into()]);
        let want = "\
| what         |                 s |   × |
|--------------|------------------:|----:|
| wc -l        |              0.10 | 1.0 |
| recount list | not available yet |     |
";
        assert_eq!(table.text(), want);
    }
}
