//! The ractor actor of a static supervisor. It awaits nothing of the user's except the start of a child.

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::sync::oneshot;

use super::SupervisorOptions;
use super::team::{self, Retry, Team};
use crate::block::{Mark, lock};
use crate::child_spec::ChildSpec;
use crate::contain::contained;
use crate::exit::{Crash, ExitReason};
use crate::label::Label;
use crate::parent::StartError;
use crate::pid::{Finish, Pid};
use crate::shutdown::Ended;

/// What a supervisor is told.
pub(super) enum Order {
    Start(ChildSpec, oneshot::Sender<Result<Pid, StartError>>),
    Terminate(Label, oneshot::Sender<Option<Ended>>),
    Retry(Retry),
}

#[cfg(feature = "ractor-cluster")]
impl ractor::Message for Order {}

pub(super) struct SupervisorActor {
    /// Here, and while it works in the working future, so that a kill drops it: a ractor actor's state would move into
    /// the queue of its parent.
    team: Mutex<Option<Team>>,
    finish: Finish,
}

impl SupervisorActor {
    pub(super) fn new(pid: Pid, options: SupervisorOptions) -> Self {
        Self { team: Mutex::new(Some(Team::new(pid.clone(), options))), finish: Finish(pid) }
    }

    fn pid(&self) -> &Pid {
        &self.finish.0
    }

    async fn start_all(&self, specs: Vec<ChildSpec>) -> Result<(), StartError> {
        let Some(mut team) = self.take_team() else {
            return Ok(());
        };
        for spec in specs {
            let started = team.add(spec).await;
            if let Err(error) = started {
                team::shut_down(self.pid(), Some(&team)).await;
                return Err(error);
            }
        }
        self.put_back(team);
        Ok(())
    }

    fn take_team(&self) -> Option<Team> {
        lock(&self.team).take()
    }

    /// Lets the team work. A panic in there is a bug of ours; the supervisor still shuts down in order then.
    async fn work<F: Future<Output = Option<Retry>>>(
        &self,
        myself: &ActorRef<Order>,
        work: impl FnOnce(Team) -> F,
    ) {
        let Some(team) = self.take_team() else { return };
        match contained(pin!(work(team))).await {
            Ok(None) => {}
            // Behind what waits already; it fails only when the supervisor ends.
            Ok(Some(retry)) => _ = myself.send_message(Order::Retry(retry)),
            Err(crash) => self.pid().exit(crash.into()),
        }
    }

    fn put_back(&self, team: Team) {
        *lock(&self.team) = Some(team);
    }
}

#[cfg_attr(feature = "ractor-async-trait", ractor::async_trait)]
impl Actor for SupervisorActor {
    type Msg = Order;
    type State = ();
    type Arguments = Vec<ChildSpec>;

    async fn pre_start(
        &self,
        myself: ActorRef<Order>,
        specs: Vec<ChildSpec>,
    ) -> Result<(), ActorProcessingErr> {
        self.pid().block().attach(myself.get_cell());
        if let Err(error) = self.start_all(specs).await {
            let reason = self.pid().exit_requested().unwrap_or_else(|| Crash::init(&error).into());
            self.pid().finish(reason);
            return Err(Box::new(error));
        }
        if self.pid().exit_requested().is_some() {
            // Asked before the cell was there: nobody has stopped the actor yet.
            self.pid().stop_actor();
        }
        self.pid().block().mark(Mark::Started);
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<Order>,
        order: Order,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        self.work(&myself, |mut team| async move {
            let retry = match order {
                Order::Start(spec, reply) => {
                    let _ = reply.send(team.add(spec).await);
                    None
                }
                Order::Terminate(id, reply) => {
                    let _ = reply.send(team.terminate(&id).await);
                    None
                }
                Order::Retry(retry) => team.retry(retry).await,
            };
            self.put_back(team);
            retry
        })
        .await;
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<Order>,
        event: SupervisionEvent,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let (SupervisionEvent::ActorTerminated(cell, ..) | SupervisionEvent::ActorFailed(cell, _)) = event
        else {
            return Ok(());
        };
        let actor = cell.get_id();
        drop(cell);
        self.work(&myself, |mut team| async move {
            let retry = team.ended(actor).await;
            self.put_back(team);
            retry
        })
        .await;
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<Order>, (): &mut ()) -> Result<(), ActorProcessingErr> {
        self.pid().block().mark(Mark::Ending);
        let team = self.take_team();
        team::shut_down(self.pid(), team.as_ref()).await;
        drop(team);
        let reason = self.pid().exit_requested().unwrap_or(ExitReason::Shutdown);
        self.pid().finish(reason.clone());
        if reason.is_clean() { Ok(()) } else { Err(Box::new(reason)) }
    }
}
