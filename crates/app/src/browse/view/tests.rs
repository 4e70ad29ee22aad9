use super::*;

fn item(node: usize, role: Role) -> Item {
    Item {
        node,
        at: (0, node as u64 * 10),
        length: 9,
        number: Some(node as u32 + 1),
        role,
        turn: None,
        is_error: node == 3,
    }
}

fn doc(serial: u64, count: usize) -> Doc {
    let role = |node| if node % 5 == 0 { Role::Prompt } else { Role::Answer };
    let items = (0..count).map(|node| item(node, role(node))).collect();
    Doc { serial, items, ..Doc::default() }
}

/// A view of so many records, each `height` lines high, on ten rows.
fn view(count: usize, height: usize) -> View {
    let mut view = View::new("s".into(), None, "t".into(), Goal::End);
    view.resize(40, 10);
    view.take(doc(1, count));
    paint_all(&mut view, height);
    view
}

fn paint_all(view: &mut View, height: usize) {
    loop {
        let wanted = view.wants();
        if wanted.is_empty() {
            return;
        }
        for (index, stamp) in wanted {
            let height = if stamp.is_open { height + 20 } else { height };
            let line = |n| Line::from(format!("record {index} line {n}"));
            view.painted(index, stamp, (0..height).map(line).collect());
        }
    }
}

/// The records on the screen with their rows.
fn seen(view: &View) -> String {
    let one = |(index, y): (usize, i32)| match index == view.selected {
        true => format!("[{index}]@{y}"),
        false => format!("{index}@{y}"),
    };
    view.layout().into_iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn it_opens_at_the_end_and_the_screen_is_full() {
    assert_eq!(seen(&view(50, 3)), "46@-2 47@1 48@4 [49]@7");
    assert_eq!(seen(&view(2, 3)), "0@0 [1]@3");
    assert_eq!(seen(&view(0, 3)), "");
}

#[test]
fn only_what_is_near_is_painted() {
    let view = view(10_000, 3);
    assert!(view.painted.len() < 60, "{}", view.painted.len());
}

#[test]
fn steps_keep_the_chosen_record_on_the_screen() {
    let mut view = view(50, 3);
    view.step(-1);
    assert_eq!(seen(&view), "46@-2 47@1 [48]@4 49@7");
    view.step(-2);
    paint_all(&mut view, 3);
    assert_eq!(seen(&view), "[46]@0 47@3 48@6 49@9");
    view.step(100);
    assert_eq!(seen(&view), "46@-2 47@1 48@4 [49]@7");
    view.step(-100);
    paint_all(&mut view, 3);
    assert_eq!(seen(&view), "[0]@0 1@3 2@6 3@9");
}

#[test]
fn scrolling_moves_lines_and_chooses_what_is_seen() {
    let mut view = view(50, 3);
    view.scroll(-4);
    paint_all(&mut view, 3);
    assert_eq!(view.layout()[0], (45, -1), "{}", seen(&view));
    view.scroll(100);
    assert_eq!(seen(&view).split(' ').next_back(), Some("[49]@7"));
    // A record that is higher than the screen is read line by line.
    view.toggle();
    paint_all(&mut view, 3);
    view.jump(49);
    assert_eq!(seen(&view), "[49]@0");
    view.scroll(5);
    assert_eq!(seen(&view), "[49]@-5");
    view.scroll(100);
    assert_eq!(seen(&view), "[49]@-13", "its end is as far as it goes");
}

#[test]
fn prompts_and_errors_are_sought() {
    let mut view = view(50, 3);
    assert!(view.seek(false, |item| item.role == Role::Prompt));
    assert_eq!(view.selected, 45);
    assert!(view.seek(false, |item| item.is_error) && view.selected == 3);
    assert!(!view.seek(false, |item| item.is_error) && view.selected == 3);
}

#[test]
fn what_is_read_on_keeps_the_place() {
    let mut view = view(20, 3);
    view.step(-4);
    let before = view.item().copied();
    view.take(doc(2, 30));
    paint_all(&mut view, 3);
    assert_eq!((view.item().copied(), view.news), (before, 10));
    view.go_to_end();
    assert_eq!((view.selected, view.news), (29, 0));
    view.is_following = true;
    view.take(doc(3, 31));
    assert_eq!((view.selected, view.news), (30, 0));
}

#[test]
fn a_level_with_less_chooses_what_came_before() {
    let mut view = view(20, 3);
    view.step(-2);
    let mut less = doc(2, 20);
    less.items.retain(|item| item.role == Role::Prompt);
    view.take(less);
    assert_eq!(view.item().map(|item| item.node), Some(15));
}

#[test]
fn an_entry_is_gone_to_once_numbers_are_known() {
    let mut view = View::new("s".into(), None, "t".into(), Goal::Entry(7));
    view.resize(40, 10);
    let mut end = doc(1, 50);
    end.items.iter_mut().for_each(|item| item.number = None);
    view.take(end);
    assert_eq!(view.selected, 49);
    view.take(doc(2, 50));
    assert_eq!(view.item().and_then(|item| item.number), Some(7));
}

#[test]
fn a_match_that_is_folded_is_unfolded_and_seen() {
    let mut view = view(50, 3);
    view.find.text = "line 19".into();
    view.found(vec![7]);
    paint_all(&mut view, 3);
    assert!(view.selected == 7 && view.is_open(7), "{}", seen(&view));
    let row = view.row + 19;
    assert!((0..10).contains(&row), "{}", seen(&view));
    assert!(view.hop(true) && view.selected == 7, "the only one comes again");
    assert_eq!(view.matches(), (1, 1));
}

#[test]
fn old_lines_are_not_taken_for_new_ones() {
    let mut view = view(5, 3);
    let old = Stamp { serial: 9, columns: 40, is_open: false };
    view.painted(0, old, vec![Line::from("of something else")]);
    assert_eq!(view.lines(0).map(<[_]>::len), Some(3));
    view.resize(60, 10);
    assert!(!view.wants().is_empty(), "another width is painted anew");
}
