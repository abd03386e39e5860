//! Workloads, users, threads, schedules and the only clock.
