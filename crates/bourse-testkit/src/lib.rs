//! Engine conformance, golden files, engines that stall and fail on purpose.
