//! The sync from outside: a Claude folder changes, and the store has to know.

mod sync {
    mod change;
    mod fault;
    mod kit;
    mod property;
}
