//! Lakes as people use them: the program on whole homes, Spark on a cluster of two workers, DuckDB,
//! and a real server of S3, all started here.

mod bad;
mod engines;
mod kit;
mod s3;
