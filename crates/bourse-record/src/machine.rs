//! Facts about the machine and the program, and warnings about those that cast doubt on a figure.

use crate::{Build, Machine, MachineMemory, NameValue, Warning};
use std::fs;

impl Machine {
    /// Reads the facts about this machine.
    pub fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
        let release = read("/proc/sys/kernel/osrelease").map_or_else(String::new, |release| format!(" {release}"));
        let mut details = Vec::new();
        let mut detail = |name: &str, value: Option<String>| {
            details.extend(value.map(|value| NameValue::new(name, value)));
        };
        detail("frequency governor", read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
        let turbo = match read("/sys/devices/system/cpu/intel_pstate/no_turbo").as_deref() {
            Some("0") => Some("on"),
            Some("1") => Some("off"),
            _ => match read("/sys/devices/system/cpu/cpufreq/boost").as_deref() {
                Some("1") => Some("on"),
                Some("0") => Some("off"),
                _ => None,
            },
        };
        detail("turbo", turbo.map(str::to_owned));
        let virtual_machine = cpuinfo.lines().any(|line| line.starts_with("flags") && line.contains(" hypervisor"));
        detail(
            "virtual machine",
            virtual_machine.then(|| read("/sys/class/dmi/id/sys_vendor").unwrap_or("yes".into())),
        );
        detail("processor quota", read("/sys/fs/cgroup/cpu.max").filter(|quota| !quota.starts_with("max")));
        detail("transparent huge pages", read("/sys/kernel/mm/transparent_hugepage/enabled"));
        Self {
            system: format!("{}{release}", std::env::consts::OS),
            processor: processor(&cpuinfo).unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            memory_bytes: MachineMemory::now().map_or(0, |memory| memory.total_bytes),
            load_average: read("/proc/loadavg").and_then(|line| line.split(' ').next()?.parse().ok()),
            harness_ns: None,
            details,
        }
    }
}

fn processor(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

impl Build {
    /// Facts about the program of that version, as compiled.
    pub fn of(version: &str) -> Self {
        Self {
            version: version.to_owned(),
            commit: None,
            profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        }
    }
}

/// Warning if the load average was high when a run began. It covers the last minute, an earlier run included, and is
/// meant for runs that do not measure other processes' usage.
pub fn load(machine: &Machine) -> Option<Warning> {
    // A third of a processor taken by others shows in every tail.
    let load = machine.load_average.filter(|load| *load > 0.3 * f64::from(machine.cores))?;
    Some(Warning::BusyMachine { load_average: load, cpus: machine.cores })
}

/// Warnings about a program and a machine, without its load, for figures of `threads` busy threads.
pub fn noise(build: &Build, machine: &Machine, threads: u32) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if build.profile != "release" {
        warnings.push(Warning::DebugBuild);
    }
    let governor = machine.details.iter().find(|detail| detail.name == "frequency governor");
    if let Some(governor) = governor.filter(|governor| governor.value != "performance") {
        warnings.push(Warning::FrequencyGovernor { governor: governor.value.clone() });
    }
    if threads > machine.cores {
        warnings.push(Warning::Oversubscribed { threads, cpus: machine.cores });
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_processor_and_a_name() {
        let machine = Machine::this();
        assert!(machine.cores > 0 && !machine.processor.is_empty() && !machine.system.is_empty());
        let build = Build::of("1.2.3");
        assert_eq!(build.profile == "debug", cfg!(debug_assertions));
    }

    #[test]
    fn doubts_are_told() {
        let quiet = Machine {
            system: "linux 6".to_owned(),
            processor: "x".to_owned(),
            cores: 4,
            memory_bytes: 1,
            load_average: Some(1.0),
            harness_ns: None,
            details: vec![NameValue::new("frequency governor", "performance")],
        };
        let release = Build { profile: "release".to_owned(), ..Build::of("1") };
        assert_eq!(noise(&release, &quiet, 4), []);
        assert_eq!(load(&quiet), None);
        let mut noisy = Machine { load_average: Some(1.5), cores: 2, ..quiet };
        noisy.details[0].value = "powersave".to_owned();
        assert_eq!(load(&noisy), Some(Warning::BusyMachine { load_average: 1.5, cpus: 2 }));
        let found = noise(&Build { profile: "debug".to_owned(), ..release }, &noisy, 3);
        assert_eq!(
            found,
            [
                Warning::DebugBuild,
                Warning::FrequencyGovernor { governor: "powersave".to_owned() },
                Warning::Oversubscribed { threads: 3, cpus: 2 },
            ]
        );
    }
}
