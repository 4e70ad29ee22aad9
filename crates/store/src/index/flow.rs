//! How much may be on its way to the engine. It takes ten thousand documents before it makes
//! anybody wait, and one of them may be an output of a megabyte.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tantivy::{Document, TantivyDocument};

/// So many bytes of text.
const MOST: usize = 8 << 20;

/// Whoever takes nothing for so long has ended; adding then says why.
const PATIENCE: Duration = Duration::from_secs(10);

/// The bytes on their way.
#[derive(Debug, Default, Clone)]
pub(super) struct Flow(Arc<(Mutex<usize>, Condvar)>);

impl Flow {
    /// Waits until there is room for a document with so many bytes of text.
    pub(super) fn pass(&self, document: TantivyDocument, bytes: usize) -> Counted {
        let (sum, taken) = &*self.0;
        let sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
        // One may always pass, however long it is.
        let is_full = |sum: &mut usize| *sum > 0 && *sum + bytes > MOST;
        let waited = taken.wait_timeout_while(sum, PATIENCE, is_full);
        *waited.unwrap_or_else(PoisonError::into_inner).0 += bytes;
        Counted { document, _share: Share { flow: self.clone(), bytes } }
    }
}

/// A document on its way.
pub(super) struct Counted {
    document: TantivyDocument,
    _share: Share,
}

/// What a document takes; given back when it has been taken, or thrown away.
struct Share {
    flow: Flow,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        let (sum, taken) = &*self.flow.0;
        *sum.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        taken.notify_one();
    }
}

impl Document for Counted {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_makes_room() {
        let flow = Flow::default();
        let long = flow.pass(TantivyDocument::default(), 2 * MOST);
        let next = std::thread::spawn({
            let flow = flow.clone();
            move || drop(flow.pass(TantivyDocument::default(), 1))
        });
        drop(long.into_tantivy_document());
        next.join().expect("passes");
        assert_eq!(*flow.0.0.lock().expect("nobody has it"), 0);
    }
}
