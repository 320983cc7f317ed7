//! The manual has what the table of options says. `UPDATE_EXPECT=1` writes it there.

use mazurka_check::options::{Group, Row, TABLE};
use std::fmt::Write as _;
use std::path::Path;

/// The options of a group, as the manual has them.
fn section(group: Group) -> String {
    let mut text = String::from("| flag | for | meaning |\n| --- | --- | --- |\n");
    for row in TABLE.iter().filter(|row| row.group == group) {
        let usage = row.usage().replace('|', "\\|");
        let _ = writeln!(text, "| `{usage}` | {} | {} |", engines(row), row.described());
    }
    text
}

/// The engines that use an option.
fn engines(row: &Row) -> String {
    use mazurka_check::{ENGINES, Language};
    let takes = |engine: &&&dyn mazurka_check::Engine| {
        let support = engine.supports();
        let mut inputs = support.inputs.iter().map(|it| it.language);
        inputs.any(|language| row.is_for(support.features, language))
    };
    let names: Vec<&str> = ENGINES.iter().filter(takes).map(|engine| engine.name()).collect();
    let names = match names.len() == ENGINES.len() {
        true => "all".to_owned(),
        false => names.join(", "),
    };
    match row.languages {
        [Language::Promela] => "Promela".to_owned(),
        _ => names,
    }
}

#[test]
fn the_manual_has_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/command_line.md");
    let text = std::fs::read_to_string(&path).expect("the manual is there");
    let mut written = text.clone();
    for group in Group::ALL {
        let begin = format!("<!-- options: {} -->\n", group.heading());
        let (before, rest) = written.split_once(&begin).expect("the manual has every group");
        let (_, behind) = rest.split_once("<!-- end -->").expect("every group has an end");
        written = format!("{before}{begin}\n{}\n<!-- end -->{behind}", section(group));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &written).expect("the manual can be written");
    } else {
        assert!(text == written, "the manual is older than the table: `UPDATE_EXPECT=1` renews it");
    }
}
