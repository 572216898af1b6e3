//! Plain data that every part shares: what a check is, what was seen of it, and what is said about it.
//!
//! Nothing here decides, prints or touches the system; the modules import only std, serde and schemars.

mod ability;
mod breaks;
mod case;
mod check;
mod comparison;
mod event;
mod fact;
mod fault;
mod finding;
mod forbid;
mod frame;
mod gate;
mod hook_check;
mod host;
mod json_path;
mod lint;
mod plant;
mod policy;
mod process;
mod reader;
mod receipt;
mod removal;
mod report;
mod revocation;
mod runs;
mod shared;
mod totals;
mod verdict;
mod verification;
mod wiring;
mod wiring_fault;

pub use ability::{
    Ability, Can, EXAMINATION_SCHEMA, Examination, FAULTS, FORBIDDEN_COMMANDS, PUBLISHED_FILES, REMOVALS,
    WINDOWS_RULES, remedy, to_see_all,
};
pub use breaks::{Break, Edit};
pub use case::{Case, CaseOutcome, Counts, Reading};
pub use check::{
    Allow, CaseCount, Check, CheckCommand, Cwd, Expect, Home, Inherit, Interpreter, Listing, ListingForm, Need, Origin,
    Platform, SkipRule, Skips, TextRule,
};
pub use comparison::{
    COMPARISON_SCHEMA, CaseComparison, Cause, CheckComparison, CheckSide, ComparedCount, ComparedRun, ComparedTotals,
    Comparison, Divergence, Likeness, RunForm, Standing,
};
pub use event::{EVENTS_SCHEMA, Event};
pub use fact::Fact;
pub use fault::{Effect, Errno, Fault, FaultCall, FaultMade, FaultSeen};
pub use finding::{Finding, Kind, Severity};
pub use forbid::{Forbid, ForbiddenCall};
pub use frame::{Frame, Raised};
pub use gate::{
    ChangedWiring, GATE_SCHEMA, Gate, GateAnswer, GatePolicy, GateReceipt, GateSide, NextSteps, Obstacle, ObstacleKind,
    Wanted,
};
pub use hook_check::{
    Decision, EventInput, Eventually, Expected, HookCall, HookEvent, HookRef, HookReport, Presence, StartProof,
};
pub use host::{CodePages, HostFacts, Precedence, Stress};
pub use json_path::{JsonPath, PathStep, WiringSource};
pub use lint::{LINTS_SCHEMA, Lint, LintKind, LintTotals, Lints, TrapHost};
pub use plant::{LockKind, Plant, Planting, is_outside};
pub use policy::{Accept, Accepted, Policy, PolicyPart};
pub use process::{Exit, Hold, How, Mark, Process, ProcessRef, Stream};
pub use reader::{LineRules, ReaderChoice, ReaderName};
pub use receipt::{
    CHECK_SUBJECT, Checkout, LeftOut, RECEIPT, Receipt, ReceiptCheck, ReceiptFinding, ReceiptRun, ReceiptSource,
    RepositoryFacts, STATEMENT, Statement, Subject, TREE_SUBJECT,
};
pub use removal::{Act, Answer, Came, Holder, Judge, Refusal, Refused, RefusedCall, Rule, Rules, Target, WindowsRules};
pub use report::{
    Baseline, CaseTotals, Cases, CheckReport, CheckTotals, Manifests, Output, Partition, Place, ProcessTimes, Report,
    RunFacts, SCHEMA, SourceFacts, SourceState, Stop, Tool, Totals, Worse,
};
pub use revocation::{RECEIPT_SUBJECT, REVOCATION, Revocation, RevocationStatement};
pub use runs::{FlakyIs, RedRuns, Retries, Runs};
pub use shared::{Shared, SharedKind, SharedUse};
pub use verdict::Verdict;
pub use verification::{
    Disregarded, InputsNow, RevokedBy, VERIFICATION_SCHEMA, Verification, VerifiedCheck, VerifiedReceipt,
};
pub use wiring::{
    Cover, Flow, HOOKS_SCHEMA, HookTotals, Hooks, Host, Limit, Named, On, Script, Shell, Unit, Unread, WiredCommand,
    Wiring,
};
pub use wiring_fault::{WiringFault, WiringFaultKind};
