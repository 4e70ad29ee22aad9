//! Claude Code's files: bytes, lines, entries, sessions.
