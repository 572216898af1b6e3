//! One file per rule; here they are in a row.

mod background_output;
mod by_name;
mod byte_order_mark;
mod carriage_returns;
mod code_page;
mod detached_cwd;
mod detached_window;
mod idle_allow;
mod ignored_cleanup;
mod in_place_write;
mod kill_zero;
mod no_encoding;
mod not_executable;
mod posix_only;
mod posix_shell;
mod rename_over;
mod session_only;
mod slash_join;
mod slash_path;
mod tmp_literal;
mod unquoted_variable;

use super::rule::Rule;
use crate::model::LintKind;

/// The rule of a kind.
#[must_use]
pub fn rule(kind: LintKind) -> &'static Rule {
    match kind {
        LintKind::SlashPath => &slash_path::RULE,
        LintKind::SlashJoin => &slash_join::RULE,
        LintKind::DetachedCwd => &detached_cwd::RULE,
        LintKind::SessionOnly => &session_only::RULE,
        LintKind::BackgroundOutput => &background_output::RULE,
        LintKind::DetachedWindow => &detached_window::RULE,
        LintKind::PosixOnly => &posix_only::RULE,
        LintKind::KillZero => &kill_zero::RULE,
        LintKind::TmpLiteral => &tmp_literal::RULE,
        LintKind::NoEncoding => &no_encoding::RULE,
        LintKind::RenameOver => &rename_over::RULE,
        LintKind::InPlaceWrite => &in_place_write::RULE,
        LintKind::ByName => &by_name::RULE,
        LintKind::PosixShell => &posix_shell::RULE,
        LintKind::IgnoredCleanup => &ignored_cleanup::RULE,
        LintKind::CodePage => &code_page::RULE,
        LintKind::NotExecutable => &not_executable::RULE,
        LintKind::CarriageReturns => &carriage_returns::RULE,
        LintKind::ByteOrderMark => &byte_order_mark::RULE,
        LintKind::UnquotedVariable => &unquoted_variable::RULE,
        LintKind::IdleAllow => &idle_allow::RULE,
    }
}

/// All of them, in the order in which documents list them.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    LintKind::ALL.into_iter().map(rule)
}

/// The beginning of a text, on one line.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(LONGEST).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}
