//! Words of the command line that are more than a name: rules with how they are kept, and sets of facts.

use std::ffi::OsStr;

use clap::builder::{EnumValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ValueEnum};

use crate::model::{Fact, Rules, WindowsRules};

/// By whose rules to judge, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesArg {
    pub rules: Rules,
    how: Vec<HowArg>,
}

/// How Windows' rules are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HowArg {
    Faithful,
    Strict,
    Directories,
}

impl RulesArg {
    /// As it is said on a command line.
    #[must_use]
    pub fn text(&self) -> String {
        let words: Vec<String> =
            self.how.iter().filter_map(ValueEnum::to_possible_value).map(|how| how.get_name().to_owned()).collect();
        let colon = if words.is_empty() { "" } else { ":" };
        format!("{}{colon}{}", self.rules.name(), words.join(","))
    }

    /// Says so to what the check itself says.
    pub fn add_to(&self, windows: &mut WindowsRules) {
        for how in &self.how {
            match how {
                HowArg::Faithful => windows.faithful = true,
                HowArg::Strict => windows.strict = true,
                HowArg::Directories => windows.files = false,
            }
        }
    }
}

/// Reads [`RulesArg`]: `native`, `windows`, or `windows:` and words.
#[derive(Debug, Clone)]
pub struct RulesParser;

impl TypedValueParser for RulesParser {
    type Value = RulesArg;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&Arg>, value: &OsStr) -> Result<RulesArg, clap::Error> {
        let text = value.to_string_lossy();
        let (name, how) = text.split_once(':').filter(|(name, _)| *name == "windows").unwrap_or((&text, ""));
        let names = PossibleValuesParser::new(["native", "windows"]);
        let rules =
            if names.parse_ref(command, arg, OsStr::new(name))? == "windows" { Rules::Windows } else { Rules::Native };
        let words = how.split(',').filter(|word| !word.is_empty());
        let word = |word| EnumValueParser::<HowArg>::new().parse_ref(command, arg, OsStr::new(word));
        Ok(RulesArg { rules, how: words.map(word).collect::<Result<_, _>>()? })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(["native", "windows"].into_iter().map(PossibleValue::new)))
    }
}

/// Reads what [`Fact::of_word`] knows.
#[derive(Debug, Clone)]
pub struct FactsParser;

impl FactsParser {
    fn words() -> impl Iterator<Item = &'static str> {
        ["all", "timezone"].into_iter().chain(Fact::ALL.into_iter().map(Fact::name))
    }
}

impl TypedValueParser for FactsParser {
    type Value = Vec<Fact>;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&Arg>, value: &OsStr) -> Result<Vec<Fact>, clap::Error> {
        let word = PossibleValuesParser::new(Self::words()).parse_ref(command, arg, value)?;
        Ok(Fact::of_word(&word).unwrap_or_default())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Self::words().map(PossibleValue::new)))
    }
}
