//! The notes as resources: `notes://{title}`.

use ractor_mcp::prelude::*;
use ractor_mcp::wire::{Annotations, Resource, ResourceTemplate, Role};

use super::notes::Notes;

const PAGE: usize = 2;

pub struct NoteRepo {
    notes: Notes,
}

impl NoteRepo {
    pub fn new(notes: Notes) -> Self {
        Self { notes }
    }
}

impl ResourceRepo for NoteRepo {
    /// The one variable of the template: the title.
    type Key = String;
    /// The last title of the page before. A client gets it sealed.
    type Cursor = String;
    /// `None` is "resource not found".
    type Output = Option<String>;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("notes://{title}", "note")
            .description("A note by its title.")
            .mime_type("text/plain")
    }

    async fn list(&self, last: Option<String>, _: &Call) -> Result<Page<Resource, String>, ToolError> {
        let page = self.notes.behind(last.as_deref(), PAGE);
        // A page that is not full is the last one.
        let next = page.last().filter(|_| page.len() == PAGE).map(|(title, _)| (*title).clone());
        let resources = page.into_iter().map(|(title, text)| {
            Resource::new(format!("notes://{title}"), title.clone())
                .mime_type("text/plain")
                .size(text.len() as u64)
                .annotations(Annotations::new().audience(Role::User))
        });
        Ok(Page::new(resources.collect(), next))
    }

    async fn read(&self, title: String, _: &Call) -> Result<Option<String>, ToolError> {
        Ok(self.notes.get(&title).cloned())
    }

    async fn complete(&self, completing: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(completing.among(self.notes.titles()))
    }
}
