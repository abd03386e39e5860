//! Tests of the checker of isolation, its files and its stories.

mod brute;
mod files;
mod known;
mod notation;
mod properties;
mod second_opinion;
mod simulated;
mod stories;
