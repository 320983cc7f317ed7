//! The pages of a run: `target/mazurka/index.html` has a line for each test, and leads to a page
//! for each violation.

use mazurka_core::Verdict;
use mazurka_report::{NotChecked, Report, html, index};
use std::io;
use std::path::Path;

/// The folder of the pages of violations, beside the first page.
const PAGES: &str = "pages";

/// Writes all pages of a run into a folder.
pub fn write_pages(
    folder: &Path,
    summary: &str,
    reports: &[Report<'_>],
    others: &[NotChecked],
) -> io::Result<()> {
    std::fs::create_dir_all(folder.join(PAGES))?;
    for report in reports {
        if let Some(page) = page_of(report) {
            std::fs::write(folder.join(page), html::render(report))?;
        }
    }
    // Another run may do the same: one of the two is there then, as a whole.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, index::render(summary, reports, others, &page_of).as_bytes())?;
    file.persist(folder.join("index.html")).map(drop).map_err(|error| error.error)
}

/// The page of a violation, as seen from the first one.
fn page_of(report: &Report<'_>) -> Option<String> {
    let name = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    matches!(report.verdict, Verdict::Violated(_))
        .then(|| format!("{PAGES}/{}.html", report.name.chars().map(name).collect::<String>()))
}
