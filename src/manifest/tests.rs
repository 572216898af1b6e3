//! The whole way, from files to checks or to the text of the errors.

mod answers;
mod files;
mod gate;
mod merging;
mod project;
mod properties;
mod rendering;
mod syntax;
