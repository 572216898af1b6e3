//! What a run tells while it goes on, one JSON object per line.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckReport, Finding, Stop, Tool, Totals};

/// The name and version of the events' form.
pub const EVENTS_SCHEMA: &str = "hostproof.events/1";

/// One line of `--events`.
///
/// The first is `run-started` and the last is `run-ended`; a run that could not be measured has no last one. In between
/// each check begins and ends, several at once; one that is skipped, or can't be started, ends without having begun or
/// at once. There are no floating-point numbers. Readers ignore events and fields that they do not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one at a time is there, and most borrow")]
pub enum Event<'a> {
    /// The run begins.
    RunStarted {
        /// Always `hostproof.events/1`.
        schema: Cow<'a, str>,
        tool: Tool,
        /// The run's id, as in its report.
        id: Cow<'a, str>,
        /// RFC 3339, in UTC.
        started: Cow<'a, str>,
        /// How many checks run at once, at most.
        jobs: u64,
        /// The ids of all checks that are to run, in their order.
        checks: Vec<Cow<'a, str>>,
    },
    /// A check begins.
    CheckStarted {
        /// Its id.
        id: Cow<'a, str>,
        /// RFC 3339, in UTC.
        at: Cow<'a, str>,
    },
    /// A check is judged.
    CheckEnded {
        /// All that the report will say of it.
        check: Cow<'a, CheckReport>,
    },
    /// The run is over.
    RunEnded {
        totals: Cow<'a, Totals>,
        /// What concerns the run as a whole.
        findings: Cow<'a, [Finding]>,
        /// The ids of the checks that were not started.
        not_run: Cow<'a, [String]>,
        /// Why they were not; `null` if all were.
        stopped: Option<Stop>,
        /// From the start to the last check's verdict.
        duration_ms: u64,
        /// The exit code of hostproof.
        exit: u8,
        /// The last line of what people read.
        counts: Cow<'a, str>,
    },
}
