//! Charts: pictures in the page, drawn here, each with its table behind it.

use crate::html::Html;

/// A bar of several parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What stands below it.
    pub label: String,
    /// Its parts in the order of the series, from the bottom.
    pub parts: Vec<f64>,
}

/// Bars that stand side by side.
#[derive(Debug, Clone, Copy)]
pub struct Bars<'a> {
    /// What is shown.
    pub title: &'a str,
    /// The names of the parts.
    pub series: &'a [String],
    /// The bars.
    pub bars: &'a [Bar],
    /// A value in words.
    pub words: fn(f64) -> String,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 56.0;
const BELOW: f64 = 20.0;
const ABOVE: f64 = 8.0;

/// The classes of series, by their order; more than eight share the last.
const SERIES: [&str; 8] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];

fn series(at: usize) -> &'static str {
    SERIES[at.min(SERIES.len() - 1)]
}

/// Writes bars with their table.
pub fn bars(html: &mut Html, chart: &Bars<'_>) {
    let sum = |bar: &Bar| bar.parts.iter().sum::<f64>();
    let most = chart.bars.iter().map(sum).fold(0.0, f64::max);
    html.within("figure", "chart", |html| {
        html.words("figcaption", "", chart.title);
        if most > 0.0 {
            picture(html, chart.title, |html| {
                scale(html, most, chart.words);
                let step = (WIDTH - LEFT) / chart.bars.len() as f64;
                for (at, bar) in chart.bars.iter().enumerate() {
                    column(html, bar, LEFT + step * at as f64, step, most, chart);
                }
                labels(html, chart.bars, step);
            });
            legend(html, chart.series);
        }
        table(html, chart);
    });
}

fn picture(html: &mut Html, title: &str, inside: impl FnOnce(&mut Html)) {
    let view = format!("0 0 {WIDTH} {HEIGHT}");
    let open = html.tag("svg").class("chart").attr("viewBox", &view).attr("role", "img");
    open.attr("aria-label", title).with(inside);
}

fn y(value: f64, most: f64) -> f64 {
    ABOVE + (HEIGHT - ABOVE - BELOW) * (1.0 - value / most)
}

fn scale(html: &mut Html, most: f64, words: fn(f64) -> String) {
    for part in [0.0, 0.5, 1.0] {
        let at = y(most * part, most);
        let line = html.tag("line").class("axis").show("x1", LEFT).show("x2", WIDTH);
        line.show("y1", format_args!("{at:.1}")).show("y2", format_args!("{at:.1}")).with(|_| {});
        let text = html.tag("text").attr("text-anchor", "end").show("x", LEFT - 6.0);
        text.show("y", format_args!("{:.1}", at + 4.0)).text(&words(most * part));
    }
}

fn column(html: &mut Html, bar: &Bar, x: f64, step: f64, most: f64, chart: &Bars<'_>) {
    let width = (step * 0.8).max(0.5);
    let mut from = 0.0;
    for (at, part) in bar.parts.iter().enumerate().filter(|(_, part)| **part > 0.0) {
        let (top, bottom) = (y(from + part, most), y(from, most));
        let open = html.tag("rect").class(series(at)).show("x", format_args!("{x:.1}"));
        let open =
            open.show("y", format_args!("{top:.1}")).show("width", format_args!("{width:.1}"));
        open.show("height", format_args!("{:.1}", bottom - top)).with(|html| {
            let name = chart.series.get(at).map_or("", String::as_str);
            html.tag("title").text(&format!("{} {name}: {}", bar.label, (chart.words)(*part)));
        });
        from += part;
    }
}

/// As many labels as fit.
fn labels(html: &mut Html, bars: &[Bar], step: f64) {
    let each = ((80.0 / step).ceil() as usize).max(1);
    for (at, bar) in bars.iter().enumerate().step_by(each) {
        let x = LEFT + step * at as f64;
        let text = html.tag("text").show("x", format_args!("{x:.1}"));
        text.show("y", HEIGHT - 5.0).text(&bar.label);
    }
}

fn legend(html: &mut Html, names: &[String]) {
    html.within("p", "legend", |html| {
        for (at, name) in names.iter().enumerate() {
            html.within("span", "", |html| {
                let open = html.tag("svg").attr("viewBox", "0 0 10 10").attr("class", "key");
                open.attr("aria-hidden", "true").with(|html| {
                    html.tag("rect")
                        .class(series(at))
                        .attr("width", "10")
                        .attr("height", "10")
                        .with(|_| {});
                });
                html.text(name);
            });
        }
    });
}

fn table(html: &mut Html, chart: &Bars<'_>) {
    html.within("details", "more", |html| {
        html.words("summary", "", "As a table");
        html.within("table", "list", |html| {
            html.within("tr", "", |html| {
                html.words("th", "", "");
                chart.series.iter().for_each(|name| html.words("th", "num", name));
            });
            for bar in chart.bars {
                html.within("tr", "", |html| {
                    html.words("td", "", &bar.label);
                    bar.parts
                        .iter()
                        .for_each(|part| html.words("td", "num", &(chart.words)(*part)));
                });
            }
        });
    });
}

/// A line through points by their order, such as the size of the context over a session; `marks`
/// are points where something happened.
pub fn line(
    html: &mut Html,
    title: &str,
    points: &[f64],
    marks: &[usize],
    words: fn(f64) -> String,
) {
    let most = points.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 || points.len() < 2 {
        return;
    }
    let (width, height) = (280.0, 72.0);
    let x = |at: usize| width * at as f64 / (points.len() - 1) as f64;
    let y = |value: f64| 4.0 + (height - 8.0) * (1.0 - value / most);
    // More points than there is room for say nothing more: of each step the highest is drawn.
    let step = points.len().div_ceil(280);
    let highest = |(at, step): (usize, &[f64])| {
        let value = step.iter().copied().fold(0.0, f64::max);
        format!("{:.1},{:.1}", x(at), y(value))
    };
    let starts = (0..points.len()).step_by(step);
    let drawn: Vec<String> = starts.zip(points.chunks(step)).map(highest).collect();
    html.within("figure", "chart", |html| {
        html.words("figcaption", "", &format!("{title}, at most {}", words(most)));
        let open =
            html.tag("svg").class("chart").show("viewBox", format_args!("0 0 {width} {height}"));
        open.attr("role", "img").attr("aria-label", title).with(|html| {
            for mark in marks.iter().filter(|mark| **mark < points.len()) {
                let at = x(*mark);
                let line = html.tag("line").class("axis").show("x1", format_args!("{at:.1}"));
                let line = line.show("x2", format_args!("{at:.1}")).attr("y1", "0");
                line.show("y2", height).with(|_| {});
            }
            html.tag("polyline").class("l0").attr("points", &drawn.join(" ")).with(|_| {});
        });
    });
}
