//! Telling how far long work is, to whoever wants to show it.

/// Hears how far work is. Called often and by the thread that works: it must be quick.
pub trait Progress: Send + Sync {
    /// A piece of work begins that has so many steps.
    fn begins(&self, steps: usize);

    /// So many steps more are done.
    fn did(&self, steps: usize);
}

/// Nobody who listens.
#[derive(Debug, Clone, Copy)]
pub struct Unheard;

impl Progress for Unheard {
    fn begins(&self, _: usize) {}

    fn did(&self, _: usize) {}
}
