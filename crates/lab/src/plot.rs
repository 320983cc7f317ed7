//! Lines over a logarithmic axis, as SVG: the look of the papers' figures.

use std::fmt::Write as _;

/// One line of a plot.
pub struct Line {
    /// What the key calls it.
    pub name: String,
    /// Its points, with `y` of at least 1.
    pub points: Vec<(f64, f64)>,
    /// What its points look like.
    pub mark: Mark,
    /// The colour of all of it.
    pub colour: &'static str,
    /// Whether its marks are hollow.
    pub hollow: bool,
    /// Whether it is dotted.
    pub dotted: bool,
}

/// What a point looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A square.
    Square,
    /// A circle.
    Circle,
    /// A triangle.
    Triangle,
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 540.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 660.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 470.0;

/// What a plot is about.
pub struct Words<'a> {
    /// What it shows.
    pub title: &'a str,
    /// What is counted to the right.
    pub x_name: &'a str,
    /// What is counted upwards.
    pub y_name: &'a str,
    /// What is to be known of it.
    pub caption: &'a str,
}

/// The plot as a file.
pub fn svg(words: &Words<'_>, lines: &[Line]) -> String {
    let Words { title, x_name, y_name, caption } = words;
    let all = || lines.iter().flat_map(|line| &line.points);
    let x_max = all().map(|point| point.0).fold(1.0, f64::max);
    let decades = all().map(|point| point.1.log10()).fold(1.0, f64::max).ceil();
    let x = |value: f64| LEFT + (RIGHT - LEFT) * value / x_max;
    let y = |value: f64| BOTTOM - (BOTTOM - TOP) * value.max(1.0).log10() / decades;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{title}</text>\n\
         <text x=\"{LEFT}\" y=\"{:.1}\" fill=\"#555555\">{caption}</text>\n",
        BOTTOM + 58.0
    );
    for decade in 0..=decades as i32 {
        let at = y(10f64.powi(decade));
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">10\
             <tspan dy=\"-4\" font-size=\"9\">{decade}</tspan></text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    for value in (0..=x_max as usize).step_by(2) {
        let at = x(value as f64);
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} {BOTTOM}v4\" stroke=\"#555555\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
            BOTTOM + 18.0
        );
    }
    let _ = writeln!(
        out,
        "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#555555\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_name}</text>\n\
         <text x=\"20\" y=\"{:.1}\" transform=\"rotate(-90 20 {:.1})\" \
         text-anchor=\"middle\">{y_name}</text>",
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 38.0,
        (TOP + BOTTOM) / 2.0,
        (TOP + BOTTOM) / 2.0
    );
    for (idx, line) in lines.iter().enumerate() {
        let points: Vec<(f64, f64)> = line.points.iter().map(|&(px, py)| (x(px), y(py))).collect();
        draw(&mut out, line, &points);
        let at = TOP + 10.0 + 22.0 * idx as f64;
        draw(&mut out, line, &[(RIGHT + 20.0, at), (RIGHT + 50.0, at)]);
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            RIGHT + 60.0,
            at + 4.0,
            line.name
        );
    }
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, line: &Line, points: &[(f64, f64)]) {
    let colour = line.colour;
    let dots = if line.dotted { " stroke-dasharray=\"2 4\"" } else { "" };
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let path = path.join(" ");
    let _ = writeln!(out, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\"{dots}/>");
    let fill = if line.hollow { "white" } else { colour };
    // Larger ones come first and show behind smaller ones in the same place.
    for &(x, y) in points {
        let style = format!("fill=\"{fill}\" stroke=\"{colour}\"");
        let _ = match line.mark {
            Mark::Circle => {
                writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" {style}/>")
            }
            Mark::Square => writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" {style}/>",
                x - 6.0,
                y - 6.0
            ),
            Mark::Triangle => {
                writeln!(out, "<path d=\"M{:.1} {:.1}l4.5 8h-9z\" {style}/>", x, y - 5.0)
            }
        };
    }
}
