//! Whatever happens to one child of any kind under any supervisor, the supervisor is the same afterwards.

use std::time::Duration;

use ractor_otp::testing::{await_children, await_exit};
use ractor_otp::{
    ChildSpec, Crash, DynamicOptions, DynamicSupervisor, ExitReason, Parent, Pid, Restart, SpawnOptions,
    StartError, Strategy, Supervisor, SupervisorOptions, spawn,
};

use crate::common::{Log, Probe, book};
use crate::probe;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Leaf,
    Static,
    Dynamic,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Stop,
    Crash,
    Kill,
    RawKill,
}

const KINDS: [Kind; 3] = [Kind::Leaf, Kind::Static, Kind::Dynamic];
const ENDS: [End; 4] = [End::Stop, End::Crash, End::Kill, End::RawKill];

async fn start(kind: Kind, parent: Pid, log: Log) -> Result<Pid, StartError> {
    match kind {
        Kind::Leaf => {
            Ok(spawn(&parent, "victim", Probe::new("leaf", &log), SpawnOptions::default()).await?.pid)
        }
        Kind::Static => {
            let children = vec![probe("below", &log)];
            let victim = Supervisor::start(&parent, "victim", SupervisorOptions::default(), children).await?;
            Ok(victim.pid().clone())
        }
        Kind::Dynamic => {
            let victim = DynamicSupervisor::start(&parent, "victim", DynamicOptions::default()).await?;
            victim.start_child("below", Probe::new("below", &log), SpawnOptions::default())?;
            Ok(victim.pid().clone())
        }
    }
}

fn end(victim: &Pid, how: End) {
    match how {
        End::Stop => victim.exit(ExitReason::Normal),
        End::Crash => victim.exit(Crash::error("boom").into()),
        End::Kill => victim.kill(),
        End::RawKill => victim.cell().unwrap().kill(),
    }
}

#[tokio::test(start_paused = true)]
async fn under_a_static_supervisor() {
    for strategy in [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne] {
        for kind in KINDS {
            for how in ENDS {
                let case = format!("{strategy:?} {kind:?} {how:?}");
                let (log, _book) = book();
                let victim_log = log.clone();
                let victim = ChildSpec::new("victim", move |parent| start(kind, parent, victim_log.clone()));
                let children = vec![probe("before", &log), victim, probe("after", &log)];
                let options = SupervisorOptions { strategy, ..SupervisorOptions::default() };
                let root = Supervisor::start(Parent::none(), "root", options, children).await.unwrap();
                let old = crate::child(root.pid(), "victim");
                let below = old.children();
                end(&old, how);
                await_exit(&old).await.unwrap();
                for orphan in below {
                    await_exit(&orphan).await.unwrap();
                }
                // What is asked after the end is done after the restart.
                root.start_child(probe("marker", &log)).await.unwrap();
                await_children(root.pid(), 4).await.unwrap();
                let new = crate::child(root.pid(), "victim");
                assert_ne!(new, old, "{case}");
                assert_eq!(new.restarts(), 1, "{case}");
                assert!(root.pid().is_alive(), "{case}");
                assert_eq!(new.parent().unwrap().id(), root.pid().id(), "{case}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn under_a_dynamic_supervisor() {
    for kind in KINDS {
        for how in ENDS {
            let case = format!("{kind:?} {how:?}");
            let (log, _book) = book();
            let root = DynamicSupervisor::start(Parent::none(), "root", Default::default()).await.unwrap();
            let sibling = root.start_child("sibling", Probe::new("s", &log), Default::default()).unwrap();
            let victim = start(kind, root.pid().clone(), log.clone()).await.unwrap();
            let below = victim.children();
            end(&victim, how);
            await_exit(&victim).await.unwrap();
            for orphan in below {
                await_exit(&orphan).await.unwrap();
            }
            await_children(root.pid(), 1).await.unwrap();
            root.start_supervisor("later", DynamicOptions::default()).await.unwrap();
            assert!(root.pid().is_alive() && sibling.pid.is_alive(), "{case}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_leaf_that_panics_under_each_supervisor() {
    let (log, _book) = book();
    let root = DynamicSupervisor::start(Parent::none(), "root", Default::default()).await.unwrap();
    let child = root.start_child("p", Probe::new("p", &log), Default::default()).unwrap();
    child.address.send(crate::common::Do::Panic("boom")).await.unwrap();
    assert_eq!(await_exit(&child.pid).await.unwrap().to_string(), "crash: boom");
    assert!(root.pid().is_alive());

    let fixed = Supervisor::start(&root, "fixed", SupervisorOptions::default(), Vec::new()).await.unwrap();
    let (give, mut addresses) = tokio::sync::mpsc::unbounded_channel();
    let spec = ChildSpec::new("p", move |parent| {
        let (give, probe) = (give.clone(), Probe::new("p", &log));
        async move {
            let child = spawn(&parent, "p", probe, SpawnOptions::default()).await?;
            give.send(child.address).unwrap();
            Ok(child.pid)
        }
    });
    fixed.start_child(spec.restart(Restart::Transient)).await.unwrap();
    for _ in 0..3 {
        let address = addresses.recv().await.unwrap();
        address.send(crate::common::Do::Panic("boom")).await.unwrap();
        await_exit(&address.pid()).await.unwrap();
    }
    let last = tokio::time::timeout(Duration::from_secs(5), addresses.recv()).await.unwrap().unwrap();
    assert!(fixed.pid().is_alive() && last.pid().is_alive());
}
