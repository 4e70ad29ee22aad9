//! Answers as plain structs, one module per question.
