//! Recorders with planted faults: each is detected, and a correct one is not.

use crate::users::SPECS;
use bourse_driver::{MS, OperationLedger, Outcome, Recording, Sample, SplitMix};
use bourse_record::{CheckStatus, Recorder, SampleInclusion};

const SAMPLES: u64 = 10_000;

/// A user's samples: of two operations and several outcomes, some in batches, some late, from all phases of a round.
fn samples() -> Vec<(Sample, bool)> {
    let mut random = SplitMix::new(7);
    let mut now = 0;
    let mut next = |number: u64| {
        let due_ns = now + random.below(MS);
        let start_ns = due_ns + if number.is_multiple_of(10) { random.below(30 * MS) } else { 0 };
        let back_off_ns = if number.is_multiple_of(50) { 100_000 } else { 0 };
        now = start_ns + back_off_ns + 20_000 + random.below(5 * MS);
        let sample = Sample {
            due_ns,
            start_ns,
            end_ns: now,
            back_off_ns,
            retries: u32::from(back_off_ns > 0),
            round_trips: 0,
            count: if number.is_multiple_of(7) { 20 } else { 1 },
            operation: (number % 2) as usize,
            outcome: Outcome::MEASURED[if number.is_multiple_of(5) { random.below(5) as usize } else { 0 }],
            code: 0,
            server: None,
        };
        (sample, (1_000..9_000).contains(&number))
    };
    (0..SAMPLES).map(&mut next).collect()
}

/// Checks that fail with a recorder that takes samples as given.
fn failed(mut take: impl FnMut(&mut Recorder, u64, &Sample, bool)) -> Vec<String> {
    let mut recording = Recording::new(Recorder::new(SPECS.into(), |_| true));
    for (number, (sample, measured)) in (0..).zip(samples()) {
        recording.ledger.enter(&sample, measured);
        take(&mut recording.recorder, number, &sample, measured);
    }
    let checks = recording.reconcile();
    assert!(checks.iter().all(|check| !check.is_of_database() && !check.evidence.is_empty()));
    let failed = checks.into_iter().filter(|check| check.status == CheckStatus::Failed);
    failed.map(|check| check.name).collect()
}

const WHOLE: &str = "operations of the whole round";
const INTERVAL: &str = "operations of the interval";
const RESPONSE: &str = "response times";
const SERVICE: &str = "service times";

#[test]
fn a_right_recorder_agrees_with_the_driver() {
    assert_eq!(failed(|recorder, _, sample, measured| recorder.sample(sample, measured)), [""; 0]);
}

#[test]
fn what_is_under_way_is_compared_too() {
    let check = |taken: SampleInclusion| {
        let mut recording = Recording::new(Recorder::new(SPECS.into(), |_| true));
        for (sample, _) in samples() {
            recording.ledger.enter(&sample, SampleInclusion::UnderWay);
            recording.recorder.sample(&sample, taken);
        }
        let checks = recording.reconcile();
        checks.into_iter().filter(|check| check.status == CheckStatus::Failed).count()
    };
    assert_eq!(
        (check(SampleInclusion::UnderWay), check(SampleInclusion::Not), check(SampleInclusion::Ended)),
        (0, 3, 1)
    );
}

#[test]
fn a_recorder_that_counts_twice_is_found() {
    let found = failed(|recorder, _, sample, measured| (0..2).for_each(|_| recorder.sample(sample, measured)));
    assert_eq!(found, [WHOLE, INTERVAL, RESPONSE, SERVICE]);
    // A single sample, too.
    let found = failed(|recorder, number, sample, measured| {
        (0..=u64::from(number == 5_000)).for_each(|_| recorder.sample(sample, measured));
    });
    assert_eq!(found, [WHOLE, INTERVAL, RESPONSE, SERVICE]);
    // In the warm-up no figure is wrong, but the recorder is.
    let found = failed(|recorder, number, sample, measured| {
        (0..=u64::from(number == 5)).for_each(|_| recorder.sample(sample, measured));
    });
    assert_eq!(found, [WHOLE]);
}

#[test]
fn a_recorder_that_drops_samples_is_found() {
    let every = |recorder: &mut Recorder, number: u64, sample: &Sample, measured| {
        if number % 1_000 != 999 {
            recorder.sample(sample, measured);
        }
    };
    assert_eq!(failed(every), [WHOLE, INTERVAL, RESPONSE, SERVICE]);
    let long = |recorder: &mut Recorder, _, sample: &Sample, measured| {
        if sample.response_ns() < 30 * MS {
            recorder.sample(sample, measured);
        }
    };
    assert_eq!(failed(long), [WHOLE, INTERVAL, RESPONSE, SERVICE]);
}

#[test]
fn a_sample_in_the_wrong_phase_or_of_the_wrong_kind_is_found() {
    let late = |recorder: &mut Recorder, number, sample: &Sample, measured| {
        recorder.sample(sample, measured && number != 1_000);
    };
    assert_eq!(failed(late), [INTERVAL, RESPONSE, SERVICE]);
    let other = |recorder: &mut Recorder, number, sample: &Sample, measured| {
        let operation = if number == 4_000 { 1 - sample.operation } else { sample.operation };
        recorder.sample(&Sample { operation, ..*sample }, measured);
    };
    assert_eq!(failed(other), [WHOLE, INTERVAL, RESPONSE, SERVICE]);
    let failure = |recorder: &mut Recorder, _, sample: &Sample, measured| {
        let completed = sample.outcome == Outcome::Failed;
        let outcome = if completed { Outcome::Completed } else { sample.outcome };
        recorder.sample(&Sample { outcome, ..*sample }, measured);
    };
    assert_eq!(failed(failure), [WHOLE, INTERVAL, RESPONSE, SERVICE]);
}

#[test]
fn service_written_as_response_is_found_and_the_other_way_round() {
    let omitted = |recorder: &mut Recorder, _, sample: &Sample, measured| {
        recorder.sample(&Sample { due_ns: sample.end_ns - sample.service_ns(), ..*sample }, measured);
    };
    assert_eq!(failed(omitted), [RESPONSE]);
    let once = |recorder: &mut Recorder, number, sample: &Sample, measured| {
        let due_ns = if number == 5_000 { sample.start_ns } else { sample.due_ns };
        recorder.sample(&Sample { due_ns, ..*sample }, measured);
    };
    assert_eq!(failed(once), [RESPONSE]);
    let waited = |recorder: &mut Recorder, _, sample: &Sample, measured| {
        recorder.sample(&Sample { start_ns: sample.due_ns, ..*sample }, measured);
    };
    assert_eq!(failed(waited), [SERVICE]);
}

#[test]
fn figures_that_are_changed_afterwards_are_found() {
    let mut recording = Recording::new(Recorder::new(SPECS.into(), |_| true));
    for (sample, measured) in samples() {
        recording.ledger.enter(&sample, measured);
        recording.recorder.sample(&sample, measured);
    }
    let (right, counted) = (recording.recorder.figures(), recording.counted());
    let failed = |change: &dyn Fn(&mut bourse_record::Operation)| {
        let mut figures = right.clone();
        change(&mut figures[0]);
        let checks = counted.reconcile(&figures).into_iter();
        checks.filter(|check| check.status == CheckStatus::Failed).map(|check| check.name).collect::<Vec<_>>()
    };
    assert_eq!(failed(&|_| {}), [""; 0]);
    assert_eq!(failed(&|work| work.outcomes[0].count += 1), [INTERVAL]);
    assert_eq!(failed(&|work| work.response.summary.mean_ns *= 1.01), [RESPONSE]);
    // Another operation's histogram has other octaves, and the service's is shorter than the response's.
    assert_eq!(failed(&|work| work.response.hdr_base64 = work.service.hdr_base64.clone()), [RESPONSE]);
    assert_eq!(failed(&|work| work.response.hdr_base64.truncate(40)), [RESPONSE]);
}

#[test]
fn users_that_are_merged_agree_as_each_does() {
    let mut total = Recording::new(Recorder::new(SPECS.into(), |_| true));
    let mut forgotten = OperationLedger::new(SPECS.len());
    for user in 0..3 {
        let mut recording = Recording::new(Recorder::new(SPECS.into(), |_| true));
        for (sample, measured) in samples().into_iter().skip(user) {
            recording.ledger.enter(&sample, measured);
            recording.recorder.sample(&sample, measured);
        }
        if user > 0 {
            forgotten.merge(&recording.ledger);
        }
        total.merge(recording);
    }
    assert!(total.reconcile().iter().all(|check| check.status == CheckStatus::Passed));
    // The missing ledger of a user is detected.
    total.ledger = forgotten;
    assert!(total.reconcile().iter().all(|check| check.status == CheckStatus::Failed));
}
