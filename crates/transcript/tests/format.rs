//! What the reader relies on of Claude Code's format, claim by claim: a module per section of the
//! description, each shape written as Claude Code writes it. What comes of it is taken from the
//! description, never from what the reader said.

mod format {
    mod section_11_stream;
    mod section_1_paths;
    mod section_2_bytes;
    mod section_3_envelope;
    mod section_4_entries;
    mod section_5_blocks;
    mod section_7_results;
    mod section_8_side;
    mod section_9_files;
    mod section_9_tree;
    mod shape;
}
