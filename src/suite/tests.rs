//! Registration as a whole.
