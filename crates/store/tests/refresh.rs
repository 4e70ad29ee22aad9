//! A history that is followed says what one that is read anew says, and does no more than it must.

#[path = "refresh/dump.rs"]
mod dump;
#[path = "refresh/random.rs"]
mod random;
#[path = "refresh/work.rs"]
mod work;
