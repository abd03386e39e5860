//! Values by small numbers, such as the slots of statements and of tables.

/// Values by their slots, each made at its first use.
///
/// ```
/// use bourse_engine::Slots;
/// let mut squares = Slots::default();
/// assert_eq!(squares.get_or_make(3, || Ok::<_, ()>(9)), Ok(&mut 9));
/// assert_eq!(squares.get_or_make(3, || Err("is not made again")), Ok(&mut 9));
/// assert_eq!((squares.get(3), squares.get(2), squares.get(7)), (Some(&9), None, None));
/// ```
#[derive(Debug)]
pub struct Slots<T>(Vec<Option<T>>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Slots<T> {
    /// Value of a slot.
    #[inline]
    pub fn get(&self, slot: usize) -> Option<&T> {
        self.0.get(slot)?.as_ref()
    }

    /// Place of a slot's value.
    #[inline]
    pub fn place(&mut self, slot: usize) -> &mut Option<T> {
        if self.0.len() <= slot {
            self.0.resize_with(slot + 1, || None);
        }
        &mut self.0[slot]
    }

    /// Value of a slot; made if the slot has none.
    ///
    /// # Errors
    /// Those of `make`.
    #[inline]
    pub fn get_or_make<E>(&mut self, slot: usize, make: impl FnOnce() -> Result<T, E>) -> Result<&mut T, E> {
        let place = self.place(slot);
        if place.is_none() {
            *place = Some(make()?);
        }
        Ok(place.as_mut().expect("made just before"))
    }

    /// Drops all values.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
