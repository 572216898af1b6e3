//! Which times differ by more than noise.
//!
//! One run has one time of each check, and that alone proves nothing. What is known is how the times of all checks moved
//! together from one run to the other: the median of the ratios is what the machine does, their spread is the noise. A
//! check stands out if its ratio is far from the median by that spread, by a factor of two at least, and by half a second
//! at least; and nothing is said at all of fewer than six checks.

/// Of so many checks there is a spread.
const FEWEST: usize = 6;
/// How often the spread, as a standard deviation, a ratio must be away.
const DEVIATIONS: f64 = 3.0;
/// From the median absolute deviation to a standard deviation, if the noise is normal.
const TO_DEVIATION: f64 = 1.4826;
/// The least factor that is told of a check.
const FACTOR: f64 = 2.0;
/// The least factor that is told of all checks together.
const OVERALL: f64 = 1.5;
/// The least difference that is told, in milliseconds.
const FLOOR_MS: f64 = 500.0;

/// How the times of one run compare with those of another.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// How much longer the whole takes, in hundredths, where that is worth a word: 250 is 2.5 times as long.
    pub overall: Option<u64>,
    /// Of how many checks that is the median.
    pub of: usize,
    /// The checks that stand out, by their place in the list.
    pub beyond: Vec<usize>,
}

/// Compares pairs of times in milliseconds; `None` where a check has no two that mean the same.
pub fn times(pairs: &[Option<(u64, u64)>]) -> Times {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds")]
    let ratio = |(one, other): (u64, u64)| ((other.max(1) as f64) / (one.max(1) as f64)).ln();
    let known: Vec<(usize, (u64, u64))> =
        pairs.iter().enumerate().filter_map(|(index, pair)| Some((index, (*pair)?))).collect();
    if known.len() < FEWEST {
        return Times::default();
    }
    let middle = median(known.iter().map(|(_, pair)| ratio(*pair)).collect());
    let spread = TO_DEVIATION * median(known.iter().map(|(_, pair)| (ratio(*pair) - middle).abs()).collect());
    let most = (DEVIATIONS * spread).max(FACTOR.ln());
    #[expect(clippy::cast_precision_loss, reason = "milliseconds")]
    let stands_out = |(one, other): (u64, u64)| {
        (ratio((one, other)) - middle).abs() > most && (other as f64 - one as f64 * middle.exp()).abs() > FLOOR_MS
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
    let overall = (middle.abs() > OVERALL.ln()).then(|| (middle.exp() * 100.0).round() as u64);
    Times {
        overall,
        of: known.len(),
        beyond: known.into_iter().filter(|(_, pair)| stands_out(*pair)).map(|(index, _)| index).collect(),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(u64, u64)]) -> Times {
        times(&pairs.iter().copied().map(Some).collect::<Vec<_>>())
    }

    #[test]
    fn few_times_prove_nothing() {
        assert_eq!(of(&[(10, 90_000); 5]), Times::default());
    }

    #[test]
    fn one_stands_out_of_what_all_do() {
        let mut pairs = vec![(1000, 2100), (900, 1800), (2000, 4100), (500, 1000), (700, 1500), (1200, 2500)];
        assert_eq!(of(&pairs), Times { overall: Some(207), of: 6, beyond: vec![] });
        pairs.push((1000, 15_000));
        assert_eq!(of(&pairs).beyond, [6]);
        // Ten times as long, and nobody would notice.
        pairs[6] = (5, 50);
        assert_eq!(of(&pairs).beyond, [0; 0]);
    }

    #[test]
    fn a_wide_spread_hides_what_a_narrow_one_shows() {
        let noisy = [(1000, 300), (1000, 4000), (1000, 900), (1000, 3000), (1000, 400), (1000, 1000), (1000, 5000)];
        assert_eq!(of(&noisy).beyond, [0; 0]);
        let calm = [(1000, 1000), (1000, 1010), (1000, 990), (1000, 1005), (1000, 1000), (1000, 1000), (1000, 5000)];
        assert_eq!(of(&calm).beyond, [6]);
    }
}
