//! What a machine lets hostproof see and do, for people.

use super::Look;
use super::terminal::{one_line, place_words};
use crate::model::{Ability, Can, Examination, Place};

/// One line for each ability, what would help below it, and in the end whether checks can be run.
#[must_use]
pub fn doctor(look: Look, examination: &Examination) -> String {
    let abilities = &examination.abilities;
    let width = abilities.iter().map(|ability| ability.name.chars().count()).max().unwrap_or(0);
    let title = look.bold(&format!("hostproof {}", examination.tool.version));
    let mut lines = vec![format!("{title}  {}", place_words(&Place::host())), String::new()];
    for ability in abilities {
        let can = match ability.can {
            Can::Yes => look.green("yes   "),
            Can::Partly => look.yellow("partly"),
            Can::No => look.red("no    "),
        };
        let name = format!("{:width$}", look.text(&ability.name));
        lines.push(format!(" {can}  {name}  {}", look.text(&one_line(&ability.why))).trim_end().to_owned());
        if let Some(remedy) = &ability.remedy {
            lines.push(format!("         {:width$}  mend   {}", "", look.text(&one_line(remedy))));
        }
    }
    lines.extend([String::new(), last_line(examination)]);
    lines.join("\n")
}

fn last_line(examination: &Examination) -> String {
    let abilities = &examination.abilities;
    let number = |can| abilities.iter().filter(|ability| ability.can == can).count();
    let counts = format!("{} yes, {} partly, {} no", number(Can::Yes), number(Can::Partly), number(Can::No));
    let missing: Vec<&str> =
        abilities.iter().filter(|ability| ability.forbids_runs()).map(|ability| &*ability.name).collect();
    if missing.is_empty() {
        format!("checks can be run here: {counts}")
    } else {
        format!("no check can be run here, for lack of {}: {counts}", missing.join(", "))
    }
}

/// Whether what is printed can be read.
#[must_use]
pub fn terminal(look: Look) -> Ability {
    if look.unicode {
        return Ability::yes("terminal", "takes UTF-8");
    }
    Ability::partly("terminal", "the locale does not say UTF-8: other characters than ASCII are escaped")
        .helped_by("set LANG to a locale with UTF-8, such as C.UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EXAMINATION_SCHEMA, HostFacts, Tool};

    #[test]
    fn what_is_missing_comes_with_what_helps_and_decides_the_last_line() {
        let abilities = vec![
            Ability::yes("a process tree", "found").essential(),
            Ability::no("holds", "/proc can't be read").essential().helped_by("mount /proc"),
        ];
        let tool = Tool { name: "hostproof".into(), version: "1.2.3".into() };
        let schema = EXAMINATION_SCHEMA.to_owned();
        let mut examination = Examination { schema, tool, ready: false, host: HostFacts::default(), abilities };
        let look = Look { colour: false, unicode: true, links: false };
        let told = doctor(look, &examination);
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(
            lines[2..],
            [
                " yes     a process tree  found",
                " no      holds           /proc can't be read",
                "                         mend   mount /proc",
                "",
                "no check can be run here, for lack of holds: 1 yes, 0 partly, 1 no"
            ]
        );
        examination.abilities.pop();
        assert!(doctor(look, &examination).ends_with("checks can be run here: 1 yes, 0 partly, 0 no"));
    }
}
