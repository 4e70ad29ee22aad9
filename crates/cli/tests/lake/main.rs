//! Lakes as people use them: the program on whole homes, Spark on a cluster of two workers, DuckDB,
//! and a real server of S3, all started here.

#[cfg(test)]
mod bad;
#[cfg(test)]
mod engines;
#[cfg(test)]
mod kit;
#[cfg(test)]
mod s3;
