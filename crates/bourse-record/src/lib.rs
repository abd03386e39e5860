//! Samples to histograms to the run file; machine, settings, memory, sizes.
