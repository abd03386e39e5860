//! TPC-E on any SQL engine: 12 transactions by frame, customers and market as users, checks.
