//! One of several parts of a plan.

use sha2::{Digest, Sha256};

use super::Plan;
use crate::model::Partition;

impl Plan {
    /// Keeps the checks of one part. Each check is in one part of a number of parts, which depends on its id alone. So is
    /// it by each of its rules and with each combination of settings; facts and copies stay with what they are set against.
    pub fn keep(&mut self, partition: Partition) {
        self.checks.retain(|planned| part_of(&planned.variant.compared_with(), partition.of) == partition.part);
    }
}

/// In which part an id is, from 1: the first eight bytes of its SHA-256, as a number, modulo the number of parts.
fn part_of(id: &str, parts: u64) -> u64 {
    let digest = Sha256::digest(id.as_bytes());
    let start = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    start % parts + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_always_in_the_same_part_and_parts_are_alike_in_size() {
        // Reports of runs that are to be merged may be made by different versions: this must not change.
        assert_eq!(["sweep", "sweep@windows", "guard/lock"].map(|id| part_of(id, 4)), [3, 1, 4]);
        let mut sizes = [0_u32; 4];
        for number in 0..4000 {
            sizes[usize::try_from(part_of(&format!("check-{number}"), 4) - 1).expect("a part")] += 1;
        }
        assert!(sizes.iter().all(|size| (850..1150).contains(size)), "{sizes:?}");
        assert_eq!(part_of("anything", 1), 1);
    }
}
