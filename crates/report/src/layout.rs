//! Where on the page the columns of a table of steps go, and the places in the source beside them.
//!
//! A row has the number of its step, its text in the column of its thread, and behind all columns
//! its place: `12 │ counter.store(seen + 1)`. The file stands once over all rows that are of it,
//! the first one beside the names of the threads. What there is no room for is given up in this
//! order, and no more of it than has to be:
//!
//! 1. the ends of long texts of the source, down to [`Layout::CODE`] columns;
//! 2. columns that are apart: a text may go on below the name of the next thread, since most rows
//!    have one text, and it begins below its own name;
//! 3. long texts on one line: they are wrapped, down to [`Layout::NARROW_BESIDE_CODE`] columns;
//! 4. the text of the source: `12:9` is left, and columns are apart again if they can be;
//! 5. the columns: each row begins with the name of its thread, with the text of the source if
//!    there is room for that.
//!
//! A place is never given up. One that is wider than the others, with the name of a library's
//! function say, begins further to the left or stands on the next line.

use crate::interleaving::{Cell, Row, Table};
use crate::number::grouped;
use crate::places::{Place, file_within};
use crate::style::{columns, padded, wrap_hanging};
use crate::{Colour, Page, Style};

/// Where on the page everything goes.
pub(crate) struct Layout {
    style: Style,
    /// Where the text begins, after the number of the step.
    start: usize,
    /// Where the columns begin.
    starts: Vec<usize>,
    /// Whether it is a list: the names of threads are in the rows.
    is_list: bool,
    /// Where the columns end.
    end: usize,
    /// Where the places in the source begin, but for long ones.
    places: usize,
    /// How wide the numbers of lines are.
    line_width: usize,
    /// How much of a text of the source is shown, if any.
    code: Option<usize>,
}

/// Where columns begin, and where the last of them ends.
struct Fit {
    starts: Vec<usize>,
    end: usize,
}

impl Layout {
    /// Blanks between two columns.
    const GAP: usize = 2;
    /// A column is not made narrower than this.
    const NARROW: usize = 14;
    /// The same for the sake of texts of the source.
    const NARROW_BESIDE_CODE: usize = 20;
    /// A text of the source is not made shorter than this.
    const CODE: usize = 24;
    /// What stands between a line's number and its text.
    const BAR: usize = 3;
    /// Two threads are not closer to each other than this.
    const APART: usize = 8;
    /// Further lines of a text stand so far to the right.
    const HANG: usize = 2;

    /// Lays out a table.
    pub(crate) fn render(table: &Table, style: &Style, page: &mut Page) {
        let layout = Self::new(table, style);
        match layout.is_list {
            true => layout.rows(&list(table), page),
            false => layout.rows(table, page),
        }
    }

    fn new(table: &Table, style: &Style) -> Self {
        let numbers = table.rows.iter().map(|row| match row {
            Row::Step { number: Some(number), .. } => number.to_string().len(),
            _ => 0,
        });
        let start = numbers.max().unwrap_or(0).max(6) + Self::GAP;
        let width = style.columns();
        let places = || table.rows.iter().filter_map(Row::place);
        let line_width = places().map(Place::line_width).max().unwrap_or(0);
        let plain = places().map(|place| place.width(line_width));
        let plain = plain.filter(|&it| it <= (width - start) / 2).max().unwrap_or(0);
        let code = places().filter_map(Place::code_width).max();
        let with_code = code.map(|code| plain.max(line_width + Self::BAR + code.min(Self::CODE)));
        // Behind the columns, as wide as that.
        let limit = |places: usize| match places {
            0 => width,
            places => width.saturating_sub(places + Self::GAP),
        };
        let fits = |table: &Table| {
            let beside_code = with_code
                .and_then(|places| fit(table, start, limit(places), Self::NARROW_BESIDE_CODE));
            let has_code = beside_code.is_some();
            let found = beside_code.or_else(|| fit(table, start, limit(plain), Self::NARROW));
            found.map(|fit| (fit, has_code))
        };
        let as_table = fits(table);
        let is_list = as_table.is_none();
        // What fits nowhere has its place on the next line.
        let below = Fit { starts: vec![start], end: width };
        let (Fit { starts, end }, has_code) =
            as_table.or_else(|| fits(&list(table))).unwrap_or((below, false));
        let places = (end + Self::GAP).min(width - plain);
        let room = width.saturating_sub(places + line_width + Self::BAR);
        let code = has_code.then_some(room);
        Self { style: *style, start, starts, is_list, end, places, line_width, code }
    }

    fn rows(&self, table: &Table, page: &mut Page) {
        let mut file = "";
        if !self.is_list {
            let cell = |(column, name): (usize, &String)| Cell { column, text: name.clone() };
            let names: Vec<Cell> = table.names.iter().enumerate().map(cell).collect();
            let mut lines = self.lines("step", &names, 0);
            file = table.rows.iter().find_map(Row::place).map_or("", |place| &place.file);
            let (at, name) = self.file(file);
            match lines.last_mut() {
                Some(line) if columns(line) + Self::GAP <= at => {
                    *line = padded(line, at) + &name;
                }
                _ => lines.push(" ".repeat(at) + &name),
            }
            for line in lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()) {
                page.line(&self.style.paint(Colour::Aside, line));
            }
        }
        for row in &table.rows {
            if let Some(place) = row.place()
                && place.file != file
            {
                file = &place.file;
                let (at, name) = self.file(file);
                page.line(&format!("{}{}", " ".repeat(at), self.style.paint(Colour::Aside, &name)));
            }
            match row {
                Row::Step { number, cell, place } => {
                    let cells = std::slice::from_ref(cell);
                    let number = number.map_or(String::new(), |number| number.to_string());
                    self.step(&number, cells, place.as_ref(), None, page);
                }
                Row::Wrong(cells, place) => {
                    self.step("", cells, place.as_ref(), Some(Colour::Bad), page);
                }
                Row::Rule(words) => self.rule(words, page),
                Row::Folded(words) => {
                    let dots = self.style.sign("…", "...");
                    self.aside(&format!("{dots} {words}"), page);
                }
                Row::Back(start) => {
                    let arrow = self.style.sign("↺", "<-");
                    self.aside(&format!("{arrow} back to step {}", grouped(*start as u64)), page);
                }
            }
        }
    }

    /// Where the name of a file begins, and as much of it as fits.
    fn file(&self, file: &str) -> (usize, String) {
        let width = self.style.columns();
        let name = file_within(file, width - self.start, &self.style);
        (self.places.min(width - columns(&name)), name)
    }

    /// A step, and where it stands in the source: beside it if there is room, else below.
    fn step(
        &self,
        number: &str,
        cells: &[Cell],
        place: Option<&Place>,
        colour: Option<Colour>,
        page: &mut Page,
    ) {
        let paint = |line: &str| match colour {
            Some(colour) => self.style.paint(colour, line),
            None => line.to_owned(),
        };
        let mut lines = self.lines(number, cells, Self::HANG);
        let Some(place) = place else {
            return lines.iter().for_each(|line| page.line(&paint(line)));
        };
        let place = place.shown(self.line_width, self.code, &self.style);
        let width = self.style.columns();
        // Where the others stand or, if it is longer, as far to the right as it fits.
        let at = self.places.min(width.saturating_sub(columns(&place))).max(self.start);
        let parts = match columns(&place) <= width - at {
            true => vec![place],
            false => wrap_hanging(place.trim_start(), width - at, 0),
        };
        let is_beside = lines.first().is_none_or(|line| columns(line) + Self::GAP <= at);
        let first = if is_beside { 0 } else { lines.len() };
        lines.resize(lines.len().max(first + parts.len()), String::new());
        for (idx, line) in lines.iter().enumerate() {
            let part = idx.checked_sub(first).and_then(|idx| parts.get(idx));
            match part {
                Some(part) => {
                    let part = self.style.paint(Colour::Aside, part);
                    page.line(&format!("{}{part}", paint(&padded(line, at))));
                }
                None => page.line(&paint(line)),
            }
        }
    }

    fn rule(&self, words: &str, page: &mut Page) {
        let end = self.end.clamp(self.start + 32, self.start + 60).min(self.style.columns());
        let dash = self.style.sign("─ ", "- ");
        let n_dashes = (end - self.start).saturating_sub(columns(words) + 1) / 2;
        self.aside(&format!("{words} {}", dash.repeat(n_dashes)), page);
    }

    fn aside(&self, words: &str, page: &mut Page) {
        let room = self.style.columns() - self.start;
        for line in wrap_hanging(words.trim_end(), room, Self::HANG) {
            let line = self.style.paint(Colour::Aside, &line);
            page.line(&format!("{}{line}", " ".repeat(self.start)));
        }
    }

    /// The lines of a row: its texts beside each other if none reaches into the next column, else
    /// below each other.
    fn lines(&self, number: &str, cells: &[Cell], hang: usize) -> Vec<String> {
        let wrapped = |cell: &Cell| {
            let room = self.end.saturating_sub(self.starts[cell.column]).max(1);
            wrap_hanging(&cell.text, room, hang)
        };
        let parts: Vec<Vec<String>> = cells.iter().map(wrapped).collect();
        let is_apart = cells.windows(2).zip(&parts).all(|(pair, parts)| {
            let [from, to] = [&pair[0], &pair[1]].map(|cell| self.starts[cell.column]);
            parts.iter().all(|part| from + columns(part) + Self::GAP <= to)
        });
        let mut lines: Vec<String> = Vec::new();
        let mut first = 0;
        for (cell, parts) in cells.iter().zip(&parts) {
            for (idx, part) in parts.iter().enumerate() {
                if lines.len() <= first + idx {
                    lines.push(String::new());
                }
                let line = &mut lines[first + idx];
                *line = padded(line, self.starts[cell.column]) + part;
            }
            if !is_apart {
                first = lines.len();
            }
        }
        let numbered = format!("{number:>0$}", self.start - Self::GAP);
        if let Some(line) = lines.first_mut() {
            line.replace_range(..numbered.len(), &numbered);
        }
        lines.iter().map(|line| line.trim_end().to_owned()).collect()
    }
}

/// Where the columns of a table go, between `start` and `limit`; none if a column would be narrower
/// than `narrow`.
fn fit(table: &Table, start: usize, limit: usize, narrow: usize) -> Option<Fit> {
    let names: Vec<usize> = table.names.iter().map(|name| columns(name)).collect();
    let mut widths = names.clone();
    for cell in table.rows.iter().flat_map(Row::cells) {
        let width = &mut widths[cell.column];
        *width = columns(&cell.text).max(*width);
    }
    // How far the next column is away.
    let mut steps: Vec<usize> = widths.clone();
    loop {
        let starts: Vec<usize> = steps
            .iter()
            .scan(start, |at, step| {
                let here = *at;
                *at += step + Layout::GAP;
                Some(here)
            })
            .collect();
        let ends = || starts.iter().zip(&widths).map(|(start, width)| start + width);
        let Some(column) = ends().position(|end| end > limit) else {
            let end = ends().max().unwrap_or(start);
            return Some(Fit { starts, end });
        };
        let is_wide = |&idx: &usize| steps[idx] > names[idx].max(Layout::APART);
        match (0..column).filter(is_wide).max_by_key(|&idx| steps[idx]) {
            Some(idx) => steps[idx] -= 1,
            None => {
                // Nothing is left but to wrap its texts.
                let room = limit.checked_sub(starts[column])?;
                let is_enough = room >= narrow.max(names[column]);
                widths[column] = is_enough.then_some(room)?;
            }
        }
    }
}

/// The same rows in one column, with the names of the threads in them.
fn list(table: &Table) -> Table {
    let named = |cell: &Cell| Cell {
        column: 0,
        text: format!("{}: {}", table.names[cell.column], cell.text),
    };
    let rows = table.rows.iter().map(|row| match row {
        Row::Step { number, cell, place } => {
            Row::Step { number: *number, cell: named(cell), place: place.clone() }
        }
        Row::Wrong(cells, place) => Row::Wrong(cells.iter().map(named).collect(), place.clone()),
        other => other.clone(),
    });
    Table { names: vec![String::new()], rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use crate::interleaving::Interleaving;
    use crate::samples::{self, Sample};
    use crate::style::columns;
    use crate::{Report, Sources, Style, text};
    use expect_test::{Expect, expect};
    use mazurka_core::{Counterexample, Verdict};

    /// The lines of `tests/counter.rs` that the steps of a lost update are from.
    fn line(number: usize) -> &'static str {
        match number {
            11 => "    let seen = counter.load(Ordering::SeqCst);",
            12 => "    counter.store(seen + 1, Ordering::SeqCst);",
            21 => {
                "    let first = thread::spawn({ let counter = counter.clone(); move || add(&counter) });"
            }
            22 => "    let second = thread::spawn(move || add(&counter));",
            24 => "    [first, second].into_iter().for_each(|it| it.join().unwrap());",
            25 => "\tassert_eq!(total.load(Ordering::SeqCst), 2);",
            _ => "",
        }
    }

    fn sources() -> Sources {
        let file = || (1..=30).map(|number| format!("{}\n", line(number))).collect::<String>();
        Sources::new(move |name| name.ends_with(".rs").then(file))
    }

    fn found(sample: &Sample) -> &Counterexample {
        let Verdict::Violated(found) = &sample.verdict else { unreachable!("it is violated") };
        found
    }

    fn table(sample: &Sample, style: &Style) -> String {
        let sources = sources();
        let shown = Interleaving { sources: Some(&sources), ..Interleaving::from(found(sample)) };
        shown.render(style)
    }

    fn check(sample: &Sample, width: usize, expect: Expect) {
        let text = table(sample, &Style::new().width(width));
        expect.assert_eq(&format!("{width} columns:\n{text}"));
    }

    #[test]
    fn the_text_of_the_source_stands_beside_if_there_is_room() {
        let sample = samples::lost_update();
        check(
            &sample,
            60,
            expect![[r#"
            60 columns:
              step  main           worker-1      worker-2
                                                        tests/counter.rs
                 1  spawn worker-1                                  21:9
                 2  spawn worker-2                                  22:9
                 3                 load counter = 0                 11:9
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                 4                               load counter = 0   11:9
                 5                               store counter 0→1  12:9
                 6                 store counter 1→1                12:9
                 7  join worker-1                                   24:9
                 8  join worker-2                                   24:9
                 9  load counter = 1                                25:9
                    ✗ assertion fails
        "#]],
        );
        check(
            &sample,
            80,
            expect![[r#"
            80 columns:
              step  main        worker-1    worker-2           tests/counter.rs
                 1  spawn worker-1                             21 │ let first = thread::spa…
                 2  spawn worker-2                             22 │ let second = thread::sp…
                 3              load counter = 0               11 │ let seen = counter.load…
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                 4                          load counter = 0   11 │ let seen = counter.load…
                 5                          store counter 0→1  12 │ counter.store(seen + 1,…
                 6              store counter 1→1              12 │ counter.store(seen + 1,…
                 7  join worker-1                              24 │ [first, second].into_it…
                 8  join worker-2                              24 │ [first, second].into_it…
                 9  load counter = 1                           25 │ assert_eq!(total.load(O…
                    ✗ assertion fails
        "#]],
        );
        check(
            &sample,
            120,
            expect![[r#"
            120 columns:
              step  main               worker-1           worker-2           tests/counter.rs
                 1  spawn worker-1                                           21 │ let first = thread::spawn({ let counter = counter…
                 2  spawn worker-2                                           22 │ let second = thread::spawn(move || add(&counter));
                 3                     load counter = 0                      11 │ let seen = counter.load(Ordering::SeqCst);
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                 4                                        load counter = 0   11 │ let seen = counter.load(Ordering::SeqCst);
                 5                                        store counter 0→1  12 │ counter.store(seen + 1, Ordering::SeqCst);
                 6                     store counter 1→1                     12 │ counter.store(seen + 1, Ordering::SeqCst);
                 7  join worker-1                                            24 │ [first, second].into_iter().for_each(|it| it.join…
                 8  join worker-2                                            24 │ [first, second].into_iter().for_each(|it| it.join…
                 9  load counter = 1                                         25 │ assert_eq!(total.load(Ordering::SeqCst), 2);
                    ✗ assertion fails
        "#]],
        );
        check(
            &sample,
            200,
            expect![[r#"
            200 columns:
              step  main               worker-1           worker-2           tests/counter.rs
                 1  spawn worker-1                                           21 │ let first = thread::spawn({ let counter = counter.clone(); move || add(&counter) });
                 2  spawn worker-2                                           22 │ let second = thread::spawn(move || add(&counter));
                 3                     load counter = 0                      11 │ let seen = counter.load(Ordering::SeqCst);
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                 4                                        load counter = 0   11 │ let seen = counter.load(Ordering::SeqCst);
                 5                                        store counter 0→1  12 │ counter.store(seen + 1, Ordering::SeqCst);
                 6                     store counter 1→1                     12 │ counter.store(seen + 1, Ordering::SeqCst);
                 7  join worker-1                                            24 │ [first, second].into_iter().for_each(|it| it.join().unwrap());
                 8  join worker-2                                            24 │ [first, second].into_iter().for_each(|it| it.join().unwrap());
                 9  load counter = 1                                         25 │ assert_eq!(total.load(Ordering::SeqCst), 2);
                    ✗ assertion fails
        "#]],
        );
    }

    #[test]
    fn the_file_stands_over_every_run_of_its_rows() {
        let mut sample = samples::lost_update();
        let Verdict::Violated(it) = &mut sample.verdict else { unreachable!("it is violated") };
        for told in &mut it.story[2..6] {
            let place = told.location.as_mut().expect("it has one");
            place.file = "crates/a/very/long/path/to/a/file/that/is/called/library.rs".to_owned();
        }
        check(
            &sample,
            80,
            expect![[r#"
            80 columns:
              step  main        worker-1    worker-2           tests/counter.rs
                 1  spawn worker-1                             21 │ let first = thread::spa…
                 2  spawn worker-2                             22 │ let second = thread::sp…
                                 crates/a/very/long/path/to/a/file/that/is/called/library.rs
                 3              load counter = 0               11 │ let seen = counter.load…
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                 4                          load counter = 0   11 │ let seen = counter.load…
                 5                          store counter 0→1  12 │ counter.store(seen + 1,…
                 6              store counter 1→1              12 │ counter.store(seen + 1,…
                                                               tests/counter.rs
                 7  join worker-1                              24 │ [first, second].into_it…
                 8  join worker-2                              24 │ [first, second].into_it…
                 9  load counter = 1                           25 │ assert_eq!(total.load(O…
                    ✗ assertion fails
        "#]],
        );
        check(
            &sample,
            50,
            expect![[r#"
            50 columns:
              step  main      worker-1  worker-2
                                              tests/counter.rs
                 1  spawn worker-1                        21:9
                 2  spawn worker-2                        22:9
                    …/path/to/a/file/that/is/called/library.rs
                 3            load counter = 0            11:9
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                 4                      load counter = 0  11:9
                 5                      store counter     12:9
                                          0→1
                 6            store counter 1→1           12:9
                                              tests/counter.rs
                 7  join worker-1                         24:9
                 8  join worker-2                         24:9
                 9  load counter = 1                      25:9
                    ✗ assertion fails
        "#]],
        );
    }

    #[test]
    fn two_threads_leave_room() {
        check(
            &samples::livelock(1),
            80,
            expect![[r#"
            80 columns:
              step  main            other          polite.rs
                 1  store turn 0→1                  3:9
                 2  load turn = 1                   5:9
                 3  yield                           6:9
                 4                  load turn = 1  15:9
                 5                  yield          16:9
        "#]],
        );
        check(
            &samples::deadlock(),
            80,
            expect![[r#"
            80 columns:
              step  alice             bob                 bank.rs
                 1  acquire accounts                      14:9
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                 2                    acquire log         30:9
                    ✗ acquire log     ✗ acquire accounts
        "#]],
        );
    }

    /// Without a text, with ASCII alone, and whatever the width is.
    #[test]
    fn every_line_fits_and_colours_change_nothing_else() {
        for (name, sample) in samples::all() {
            for width in [40, 47, 60, 72, 80, 100, 120, 200] {
                for style in [Style::new(), Style::new().ascii(true)] {
                    let style = style.width(width);
                    let report = Report { sources: sources(), ..sample.report() };
                    let text = text::verdict(&report, &style);
                    for line in text.lines().filter(|line| !line.starts_with("mzk1:")) {
                        assert!(columns(line) <= width, "{name} at {width}: {line}");
                        assert_eq!(line, line.trim_end(), "{name} at {width}");
                    }
                    let coloured = text::verdict(&report, &style.colour(true));
                    let plain: String = coloured
                        .split('\x1b')
                        .enumerate()
                        .map(|(idx, part)| match idx {
                            0 => part,
                            _ => part.split_once('m').expect("only colours are used").1,
                        })
                        .collect();
                    assert_eq!(plain, text, "{name} at {width}");
                }
            }
        }
    }

    #[test]
    fn places_are_dimmed_and_stay_when_their_text_goes() {
        let sample = samples::lost_update();
        for width in [40, 50, 60, 80, 120] {
            let text = table(&sample, &Style::new().width(width));
            for number in ["11", "12", "21", "22", "24", "25"] {
                let is_told = |line: &str| {
                    let found = [format!("{number} │ "), format!("{number}:9")];
                    found.iter().any(|place| line.contains(place.as_str()))
                };
                assert!(text.lines().any(is_told), "line {number} at {width}:\n{text}");
            }
        }
        let coloured = table(&sample, &Style::new().width(120).colour(true));
        assert!(coloured.contains("\x1b[2m11 │ let seen = counter.load("), "{coloured}");
    }
}
