//! A lake in an object store.

use std::process::Command;

use testkit::lake::Bucket;

use super::kit::{Team, done, refused};

const LAKE: &str = "s3://team/some/lake";

fn with<'a>(server: &Bucket, command: &'a mut Command) -> &'a mut Command {
    command.envs(server.variables())
}

#[test]
fn a_bucket_is_a_lake() {
    if !testkit::lake::is_there() {
        return;
    }
    let team = Team::of(1);
    let (host, user) = Team::computers().next().unwrap();
    std::fs::create_dir_all(team.path("buckets/team")).unwrap();
    let server = Bucket::start(&team.path("buckets")).unwrap();
    let lake = |what: &str| {
        let mut command = team.on(host, user);
        command.args(["lake", what, LAKE]);
        command
    };

    let none = refused(with(&server, &mut lake("status")));
    assert!(none.contains("There is no lake at s3://team/some/lake"), "{none}");
    assert!(done(with(&server, &mut lake("write"))).contains(" written, 0 months carried over"));
    assert!(done(with(&server, &mut lake("write"))).contains("Nothing new"));
    assert!(done(with(&server, &mut lake("status"))).contains(host));
    assert!(done(with(&server, &mut lake("verify"))).contains("all of it as it was written"));
    assert!(done(with(&server, &mut lake("compact"))).contains("Nothing to take away"));

    // The same as in a folder, name for name.
    let folder = team.path("folder");
    done(team.on(host, user).args(["lake", "write"]).arg(&folder));
    let names = |root: std::path::PathBuf| {
        let mut names = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    path => names.push(path.strip_prefix(&root).unwrap().to_path_buf()),
                }
            }
        }
        names.sort();
        names
    };
    assert_eq!(names(team.path("buckets/team/some/lake")), names(folder));

    let store = team.path("team");
    let mut read = team.program();
    read.args(["lake", "read", LAKE, "--store"]).arg(&store);
    assert!(done(with(&server, &mut read)).contains(" rows read"));
    assert_eq!(team.ask(&store, "SELECT DISTINCT host FROM sessions"), [[host]]);

    let wrong = refused(with(&server, &mut lake("write")).env("AWS_SECRET_ACCESS_KEY", "no"));
    assert!(wrong.contains("Permission denied"), "{wrong}");
    let nowhere =
        refused(with(&server, lake("write").arg("--host=x")).env("AWS_ACCESS_KEY_ID", "no"));
    assert!(nowhere.contains("Permission denied"), "{nowhere}");
    let none = refused(&mut lake("write"));
    assert!(none.contains("There are no credentials for `s3://team/some/lake`"), "{none}");
}
