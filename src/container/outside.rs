//! The host's end: it starts the container, passes on what the inside tells, and sees the container gone.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::engine::Engine;
use super::start::{Prepared, Wanted};
use super::wire::{LINE, Message, Request, STOP, read_line};
use crate::error::{Error, Result};
use crate::model::{HostFacts, Place};
use crate::plan::{Plan, Planned};
use crate::platform;
use crate::run::{Observer, Ran, Reports};
use crate::words::{beginning, shown};

/// How long an engine may take until the inside is ready. A large project is copied meanwhile.
pub const START: Duration = Duration::from_secs(600);

/// How long the engine's client may take to end when the inside has.
const END: Duration = Duration::from_secs(10);

/// How much of what the engine says is kept: its end.
const SAID: usize = 16 * 1024;

/// What engines say, and what helps.
const REMEDIES: [(&str, &str); 4] = [
    ("exec format error", "the image is for another processor than the program: --binary FILE names one that fits"),
    ("-init", "if the engine has no init of its own (catatonit, docker-init): --no-init"),
    ("permission denied", "the user of the container must be able to read the project and run the program"),
    ("unknown flag", "this engine is too old: docker 20.10 or podman 4 knows all that is needed"),
];

/// What is written to the inside.
enum Order {
    Request(String),
    Stop,
    /// The end of its input.
    Close,
}

/// A container whose inside is ready to run, or runs.
pub struct Session {
    engine: Engine,
    name: String,
    client: Client,
    token: String,
    place: Place,
    jobs: u64,
    swept: usize,
}

/// The engine's client.
struct Client {
    child: Arc<Mutex<Child>>,
    orders: Sender<Order>,
    messages: BufReader<ChildStdout>,
    /// What it says besides, and the end of that.
    words: Arc<Mutex<Vec<u8>>>,
    silent: Receiver<()>,
    /// What came where a message was expected.
    noise: Vec<u8>,
    stopped: Arc<AtomicBool>,
}

impl Session {
    /// Starts a container, and waits until all is in place there. `words` is the command line of the run inside; `whole`
    /// whether the reports of all checks are wanted; `id` is the run's.
    ///
    /// # Errors
    ///
    /// If there can be none; if what is inside is not what was planned here; or if the user ended it before it was ready.
    pub fn start(wanted: &Wanted, plan: &Plan, words: Vec<String>, whole: bool, id: &str) -> Result<Self> {
        let name = format!("hostproof-{}", id.replace(|c: char| !c.is_ascii_alphanumeric(), "-").to_ascii_lowercase());
        let Prepared { engine, image, luggage, arguments, swept } = wanted.prepare(&plan.project, &name)?;
        let token = name.clone();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let request = Request { version, token: token.clone(), words, whole, luggage: luggage.packed() };
        let mut command = engine.command(arguments);
        let client = Client::start(&mut command, &engine)?;
        client.send(Order::Request(serde_json::to_string(&request).unwrap_or_default()));
        let place = Place {
            engine: Some(engine.kind.name().to_owned()),
            engine_version: Some(engine.version.clone()),
            image: Some(image.name),
            image_id: Some(image.id),
            image_digest: image.digest,
            ..Place::container()
        };
        let mut session = Self { engine, name, client, token, place, jobs: 1, swept };
        session.wait_until_ready(plan)?;
        Ok(session)
    }

    fn wait_until_ready(&mut self, plan: &Plan) -> Result<()> {
        let limit = limit(Arc::clone(&self.client.child), START);
        let message = self.next()?;
        drop(limit);
        let (version, jobs, checks, manifests) = match message {
            Message::Ready { version, jobs, checks, manifests } => (version, jobs, checks, manifests),
            Message::Refused { why, usage } => return Err(self.refused(&why, usage)),
            _ => {
                return Err(Error::Unmeasured("the container began with something else than its readiness".to_owned()));
            }
        };
        if version != env!("CARGO_PKG_VERSION") {
            return Err(Error::Usage(format!(
                "the hostproof in the container is {version}, and this one {}: they must be the same",
                env!("CARGO_PKG_VERSION")
            )));
        }
        let planned: Vec<&str> = plan.checks.iter().map(Planned::id).collect();
        if planned != checks || plan.manifests.digest.as_deref() != manifests.as_deref() {
            return Err(Error::Unmeasured(
                "the manifests in the container are not those that are here\nhelp: git must not ignore them, and nobody \
                 change them meanwhile"
                    .to_owned(),
            ));
        }
        self.jobs = jobs;
        Ok(())
    }

    /// How many checks run at once, at most.
    #[must_use]
    pub fn jobs(&self) -> usize {
        usize::try_from(self.jobs).unwrap_or(1)
    }

    /// How many containers were removed that a run which is gone had left behind.
    #[must_use]
    pub fn swept(&self) -> usize {
        self.swept
    }

    /// Where it is, for the report.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Passes on what happens until the run is over, and keeps the reports: all if `whole`, else those with something to say.
    /// The container is gone afterwards.
    ///
    /// # Errors
    ///
    /// If the container ended before its end marker came: nothing of it is to be believed then.
    pub fn follow(&mut self, plan: &Plan, whole: bool, observer: &dyn Observer) -> Result<(Ran, HostFacts)> {
        let mut over = None;
        let places: HashMap<&str, usize> =
            plan.checks.iter().enumerate().map(|(at, planned)| (planned.id(), at)).collect();
        let checks = Reports::default();
        loop {
            match self.next()? {
                Message::Started(id) => observer.check_started(&id),
                Message::Ended(report) => {
                    observer.check_ended(&report);
                    if let Some(at) = places.get(report.id.as_str()).filter(|_| whole || report.is_worth_a_word()) {
                        checks.put(*at, report.into_owned());
                    }
                }
                Message::Over { ran, host } => over = Some((*ran, host.into_owned())),
                Message::Refused { why, usage } => return Err(self.refused(&why, usage)),
                Message::End(token) if token == self.token => break,
                Message::End(_) | Message::Ready { .. } => {}
            }
        }
        let (ran, host) =
            over.ok_or_else(|| Error::Unmeasured("the container's run ended without a report".to_owned()))?;
        Ok((Ran { checks, ..ran }, host))
    }

    fn refused(&self, why: &str, usage: bool) -> Error {
        let why = format!("in the container of {}: {why}", self.place.image.as_deref().unwrap_or_default());
        if usage { Error::Usage(why) } else { Error::Unmeasured(why) }
    }

    fn next(&mut self) -> Result<Message<'static>> {
        match self.client.next() {
            Some(Ok(message)) => Ok(message),
            Some(Err(length)) => Err(Error::Unmeasured(format!(
                "the container sent a line of {length} bytes, and no report has more than {} MiB: nothing of its run counts",
                LINE >> 20
            ))),
            None => Err(self.died()),
        }
    }

    /// Why there is no more to be read.
    fn died(&mut self) -> Error {
        if self.client.stopped.load(Ordering::SeqCst) {
            return Error::Interrupted("interrupted: the container was ended before it could report".to_owned());
        }
        let program = self.engine.kind.name();
        let (status, words) = self.client.last_words();
        let status = status.map_or_else(|| "it does not end".to_owned(), |status| status.to_string());
        let lower = words.to_ascii_lowercase();
        let remedy = REMEDIES.iter().find(|(sign, _)| lower.contains(sign));
        let remedy = remedy.map(|(_, remedy)| format!("\nhelp: {remedy}")).unwrap_or_default();
        let words = if words.is_empty() { "says nothing".to_owned() } else { format!("says: {words}") };
        Error::Unmeasured(format!(
            "the container ended before its run was over, so that nothing of it counts ({status}); {program} {words}{remedy}"
        ))
    }
}

impl Drop for Session {
    /// Whatever has happened, the container is gone afterwards.
    fn drop(&mut self) {
        self.client.send(Order::Close);
        if self.client.ended(END).is_none_or(|status| !status.success()) {
            self.engine.remove(&self.name);
        }
        let _ = self.client.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }
}

impl Client {
    fn start(command: &mut std::process::Command, engine: &Engine) -> Result<Self> {
        let failed =
            |error: &std::io::Error| Error::Unmeasured(format!("{} cannot be run: {error}", engine.kind.name()));
        // The inside is told to end; the client would pass the signal on in a way of its own.
        platform::set_apart(command);
        let stopped = Arc::<AtomicBool>::default();
        let (orders, received) = mpsc::channel();
        {
            let (stopped, orders) = (Arc::clone(&stopped), orders.clone());
            platform::on_interrupt(move || {
                if stopped.swap(true, Ordering::SeqCst) {
                    // With this process the inside's input ends.
                    platform::exit_at_once();
                }
                let _ = orders.send(Order::Stop);
            })
            .map_err(|error| Error::Unmeasured(format!("cannot watch for Ctrl-C: {error}")))?;
        }
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(&error))?;
        let (Some(input), Some(output), Some(words)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::Unmeasured("the engine's client has no streams".to_owned()));
        };
        // It ends with the stream, at the latest when the client does.
        thread::Builder::new().spawn(move || write(input, &received)).map_err(|error| failed(&error))?;
        let (kept, (fell_silent, silent)) = (Arc::<Mutex<Vec<u8>>>::default(), mpsc::channel());
        {
            let kept = Arc::clone(&kept);
            let listen = move || {
                keep_end(words, &kept);
                let _ = fell_silent.send(());
            };
            thread::Builder::new().spawn(listen).map_err(|error| failed(&error))?;
        }
        let child = Arc::new(Mutex::new(child));
        let messages = BufReader::new(output);
        Ok(Self { child, orders, messages, words: kept, silent, noise: Vec::new(), stopped })
    }

    fn send(&self, order: Order) {
        // Whoever no longer listens has ended.
        let _ = self.orders.send(order);
    }

    /// The next message; `None` at the end. An error is the length of a line that is longer than any.
    fn next(&mut self) -> Option<Result<Message<'static>, usize>> {
        let mut line = Vec::new();
        loop {
            // Anything else is an engine's word, or nobody's, and has no end that is worth waiting for.
            let is_message = self.messages.fill_buf().ok()?.first() == Some(&b'{');
            let most = if is_message { LINE } else { SAID };
            match read_line(&mut self.messages, &mut line, most) {
                Err(_) | Ok(0) => return None,
                Ok(length) if length > LINE && is_message => return Some(Err(length)),
                Ok(_) => {}
            }
            if let Some(message) = Message::of(&line) {
                return Some(Ok(message));
            }
            let room = SAID.saturating_sub(self.noise.len());
            self.noise.extend(line.iter().take(room).chain(b"\n"));
        }
    }

    /// How it ended, within that time.
    fn ended(&self, within: Duration) -> Option<std::process::ExitStatus> {
        const LOOK: Duration = Duration::from_millis(5);
        let deadline = Instant::now() + within;
        loop {
            let status = self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
            match status {
                Ok(None) if Instant::now() < deadline => thread::sleep(LOOK),
                status => return status.ok().flatten(),
            }
        }
    }

    /// How it ended, and what it said.
    fn last_words(&mut self) -> (Option<std::process::ExitStatus>, String) {
        let status = self.ended(END);
        // What it has started may have its stream still.
        let _ = self.silent.recv_timeout(Duration::from_secs(1));
        let words = std::mem::take(&mut *self.words.lock().unwrap_or_else(PoisonError::into_inner));
        let all = [words, std::mem::take(&mut self.noise)].concat();
        let words = shown(&all).split_whitespace().collect::<Vec<_>>().join(" ");
        (status, beginning(&words, 800))
    }
}

/// Writes what is ordered to the inside, until its input is to end.
fn write(mut input: ChildStdin, orders: &Receiver<Order>) {
    for order in orders {
        let line = match order {
            Order::Request(line) => line,
            Order::Stop => STOP.to_owned(),
            Order::Close => return,
        };
        if input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Reads a stream to its end, and keeps the end of it.
fn keep_end(mut stream: ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..read]);
        let surplus = kept.len().saturating_sub(SAID);
        kept.drain(..surplus);
    }
}

/// Ends a client that takes too long, unless what is given back is dropped before.
fn limit(child: Arc<Mutex<Child>>, limit: Duration) -> Option<Sender<()>> {
    let (over, wait) = mpsc::channel();
    let watch = move || {
        if wait.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        }
    };
    // Without a thread for it, the user can still end it.
    thread::Builder::new().spawn(watch).ok().map(|_| over)
}
