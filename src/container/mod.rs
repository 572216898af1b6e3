//! The same run inside a container of docker's or podman's.
//!
//! ```text
//! host                                             container
//! engine, image, binary, luggage                   /hostproof/hostproof, the same program, read-only
//! outside --(stdin: one request; `stop`; its end)-> inside: copies /hostproof/project, loads its manifests, runs them
//!         <-(stdout: messages, one a line; an end marker)
//! ```
//!
//! # Invariants
//!
//! - **Nothing of the project is written**: it is mounted read-only, and a copy of what git lists is worked on.
//! - **The end marker alone says that a run is whole**: an engine's exit status may be the program's or its own.
//! - **The container ends with the harness**: the inside ends when its standard input does, and the engine removes it. What
//!   outlives even that carries its owner in a label, and the next run removes it once that owner is gone.
//! - **Nothing is fetched unasked**: neither an image nor a program.

mod ask;
mod binary;
mod engine;
mod image;
mod inside;
mod luggage;
mod outside;
mod start;
mod sweep;
mod wire;

pub use engine::{Engine, EngineKind};
pub use inside::{INSIDE, Inside, enter};
pub use outside::Session;
pub use start::Wanted;
pub use wire::Message;
