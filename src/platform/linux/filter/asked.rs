//! What of a job is asked about, and what is lost where it can't be.

use super::super::super::Job;
use crate::model::{FAULTS, FORBIDDEN_COMMANDS, FaultCall, PUBLISHED_FILES, Rules, WINDOWS_RULES, WindowsRules};

/// What a filter is to ask about.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// Removals and renames, by these rules.
    pub rules: Option<&'a WindowsRules>,
    /// What opens for writing and what names, since files are published.
    pub published: bool,
    /// What else may be everybody's, since it is to be known what the job uses of it.
    pub shared: bool,
    /// What is executed, since some may not be.
    pub executions: bool,
    /// What may be made to fail.
    pub faults: Vec<FaultCall>,
}

impl<'a> Asked<'a> {
    /// Of a job; `published`: whether somebody watches published files.
    pub fn of(job: &'a Job, published: bool) -> Self {
        Self {
            rules: (job.rules == Rules::Windows).then_some(&job.windows),
            published,
            shared: published && !job.shared.is_empty(),
            executions: job.forbids.is_some(),
            faults: job.faults.iter().map(|fault| fault.call).collect(),
        }
    }

    /// Whether that is nothing.
    pub fn is_nothing(&self) -> bool {
        self.rules.is_none() && !self.published && !self.executions && self.faults.is_empty()
    }

    /// Whether executions are asked about, for whatever reason.
    pub fn executes(&self) -> bool {
        self.executions || self.faults.contains(&FaultCall::Exec)
    }

    /// What it is asked for in the first place.
    pub fn what(&self) -> &'static str {
        match self {
            Self { rules: Some(_), .. } => WINDOWS_RULES,
            Self { published: true, .. } => PUBLISHED_FILES,
            Self { executions: true, .. } => FORBIDDEN_COMMANDS,
            _ => FAULTS,
        }
    }

    /// What can't be seen without the filter. Published files are watched all the same, if not as closely; that no fault was
    /// made is told by itself.
    pub fn lost(&self, why: &str) -> Vec<String> {
        let rules = self
            .rules
            .map(|_| format!("{WINDOWS_RULES}: not enforced: {why}; what Windows would have refused is predicted"));
        let executions =
            self.executions.then(|| format!("{FORBIDDEN_COMMANDS}: {why}; only calls that look for the name are seen"));
        rules.into_iter().chain(executions).collect()
    }
}
