//! Lakes in folders.

#[cfg(test)]
mod cases;
