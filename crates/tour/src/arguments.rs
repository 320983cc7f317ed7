//! What the arguments of the tour ask for, and what is wrong with them.

use mazurka_core::Schedule;
use mazurka_explore::Options;
use mazurka_report::ExitStatus;
use mazurka_script::Script;

/// What the arguments ask for.
pub(crate) enum Command {
    Help,
    Tour(Options),
    Check(String, Options, Form),
    Replay(String, String),
}

/// How the result of a check is told.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Text,
    Json,
}

/// What `--help` says.
pub(crate) fn usage() -> String {
    let mut text = r#"Usage: tour [OPTIONS] ["PROGRAM"]

Checks a program such as "x=1; r=y | y=1; r1=x"; without one, gives a tour.

  --reduction NAME   none, persistent, dpor, source, monotonic or optimal (the default)
  --sleep on|off     sleep sets beside the reduction (on)
  --stateful         store states; with the reductions none and persistent
  --jobs N           how many threads search (1)
  --max-depth N      cut executions after N steps, and leave them unverified;
                     without it, they are cut after 100 000 steps
  --replay mzk1:…    take the steps of a schedule instead of searching
  --json             print one JSON object and nothing else

Exit status:
"#
    .to_owned();
    for status in ExitStatus::ALL {
        text.push_str(&format!("  {:<3}  {}\n", status.code(), status.meaning()));
    }
    text.push_str("A replay ends with 1 if something goes wrong in it, else with 0.\n");
    text
}

impl Command {
    /// Reads the arguments, or says everything that is wrong with them.
    pub(crate) fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self, Vec<String>> {
        let mut read = Read::default();
        let mut errors = Vec::new();
        while let Some(arg) = args.next() {
            errors.extend(read.argument(arg, &mut args).err());
        }
        let Read { options, program, schedule, form, help } = read;
        if help {
            return Ok(Self::Help);
        }
        if schedule.is_some() && program.is_none() {
            errors.push("`--replay` needs the program that the schedule is for".to_owned());
        }
        match form {
            Form::Json if schedule.is_some() => {
                errors.push("`--json` is for verdicts, and `--replay` has none".to_owned());
            }
            Form::Json if program.is_none() => {
                errors.push("`--json` prints one object, so it needs one program".to_owned());
            }
            _ => {}
        }
        errors.extend(options.errors().iter().map(ToString::to_string));
        match (errors.is_empty(), program, schedule) {
            (false, ..) => Err(errors),
            (true, Some(program), Some(schedule)) => Ok(Self::Replay(program, schedule)),
            (true, Some(program), None) => Ok(Self::Check(program, options, form)),
            (true, None, _) => Ok(Self::Tour(options)),
        }
    }
}

/// What was read so far.
#[derive(Default)]
struct Read {
    options: Options,
    program: Option<String>,
    schedule: Option<String>,
    form: Form,
    help: bool,
}

impl Read {
    /// Reads one argument, and its value if it has one.
    fn argument(
        &mut self,
        arg: String,
        rest: &mut impl Iterator<Item = String>,
    ) -> Result<(), String> {
        let mut value = || rest.next().ok_or_else(|| format!("`{arg}` needs a value"));
        let number = |value: String| {
            value.parse().map_err(|_| format!("`{arg}` is a number, not `{value}`"))
        };
        match arg.as_str() {
            "-h" | "--help" => self.help = true,
            "--json" => self.form = Form::Json,
            "--stateful" => self.options.stateful = true,
            "--reduction" => {
                self.options.reduction = value()?.parse().map_err(|error| format!("{error}"))?;
            }
            "--sleep" => match value()?.as_str() {
                "on" => self.options.sleep = true,
                "off" => self.options.sleep = false,
                other => return Err(format!("`--sleep` is `on` or `off`, not `{other}`")),
            },
            "--jobs" => self.options.jobs = number(value()?)?,
            "--max-depth" => {
                self.options.max_depth = number(value()?)?;
                self.options.livelock = false;
            }
            "--replay" => self.schedule = Some(value()?),
            _ if arg.starts_with('-') => return Err(format!("unknown option `{arg}`")),
            _ if self.program.is_some() => return Err(format!("a second program: `{arg}`")),
            _ => self.program = Some(arg),
        }
        Ok(())
    }
}

/// The program that a text describes; if there is none, its user is told why not.
pub(crate) fn parse(text: &str) -> Option<Script> {
    let tell = |errors: Vec<mazurka_script::ScriptError>| {
        errors.iter().for_each(|error| point_at("program", text, error.column, &error.message));
    };
    Script::parse(text).map_err(tell).ok()
}

/// The schedule that a text describes; if there is none, its user is told why not.
pub(crate) fn parse_schedule(text: &str) -> Option<Schedule> {
    let tell = |error: mazurka_core::ScheduleError| {
        let message = format!("expected {}, found {}", error.expected, error.found);
        point_at("schedule", text, error.column, &message);
    };
    text.parse().map_err(tell).ok()
}

/// Shows a mistake with the part of the text that it is in. Columns are counted from 1.
fn point_at(name: &str, text: &str, column: usize, message: &str) {
    let before: String = text.chars().take(column - 1).collect();
    let line_idx = before.matches('\n').count();
    let line = text.split('\n').nth(line_idx).unwrap_or_default();
    let column = before.chars().rev().take_while(|&c| c != '\n').count();
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let start = column.saturating_sub(40);
    let excerpt: String = line.chars().skip(start).take(66).map(visible).collect();
    let number = (line_idx + 1).to_string();
    let margin = " ".repeat(number.len());
    eprintln!("error: {message}");
    eprintln!("{margin}--> {name}:{number}:{}", column + 1);
    eprintln!("{margin} |\n{number} | {excerpt}\n{margin} | {:>1$}\n", "^", column - start + 1);
}
