//! Joint verdicts on several differences by Holm's correction: the probability that any is false stays below the level.

/// Judges differences together by their p-values; true means significant. `level` is that of all together, as 0.05.
///
/// The smallest p-value is compared with the level divided by their number, the next with the level divided by one
/// less, and so on until one fails (Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979).
///
/// ```
/// assert_eq!(bourse_stats::holm::judge(&[0.03, 0.001, 0.02, 0.4], 0.05), [false, true, false, false]);
/// assert_eq!(bourse_stats::holm::judge(&[0.02, 0.001], 0.05), [true, true]);
/// ```
pub fn judge(probabilities: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|one, other| probabilities[*one].total_cmp(&probabilities[*other]));
    let mut judged = vec![false; probabilities.len()];
    for (rank, at) in order.into_iter().enumerate() {
        if probabilities[at] > level / (probabilities.len() - rank) as f64 {
            break;
        }
        judged[at] = true;
    }
    judged
}
