//! Messages between the harness and a supervisor: JSON for what is text, a blob for what is bytes, and open files behind
//! the message that announces them.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::{Change, Forbids, Job, Outcome};
use crate::model::{Fault, Forbid, Rules, WindowsRules};

/// From the harness.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Run a job; its arguments and environment are the blob.
    Run(Box<JobHeader>),
    /// End the current job.
    Cancel,
    /// Leave the lane's folder when the lane ends.
    Keep,
}

/// From the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// It is ready; this is the lane's folder.
    Ready(PathBuf),
    /// It can't work here.
    Unable(String),
    /// The job is over; the output that is in memory is the blob, stdout first. Behind it come the files with output that
    /// is too much for memory.
    Done(Box<Outcome>, usize),
}

/// What a supervisor is told while a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Nothing,
    Cancel,
    Keep,
    /// The harness is gone.
    Gone,
}

impl Word {
    /// The next one; to be called if there is something to read.
    pub fn of(socket: impl Read) -> Self {
        match receive::<Order>(socket) {
            Ok((Order::Cancel, _)) => Self::Cancel,
            Ok((Order::Keep, _)) => Self::Keep,
            Ok((Order::Run(_), _)) => Self::Nothing,
            Err(_) => Self::Gone,
        }
    }
}

/// A [`Job`] without its byte strings: what they are is told by their order.
#[derive(Debug, Serialize, Deserialize)]
pub struct JobHeader {
    timeout: Duration,
    grace: Duration,
    afterlife: Duration,
    has_stdin: bool,
    roots: usize,
    arguments: usize,
    /// Globs; their folders are in the blob.
    publishes: Vec<String>,
    /// The same.
    watches: Vec<String>,
    /// Programs that may not be run, and in how many folders these are others; the folders are in the blob.
    forbids: Option<(Vec<Forbid>, usize)>,
    faults: Vec<Fault>,
    shared: Vec<String>,
    rules: Rules,
    windows: WindowsRules,
    change: Option<Change>,
}

/// A job as a header, and as a blob of NUL-terminated strings: program, cwd, spill folder, input if there is one, roots,
/// the folders of what is published and of what is watched, those of stubs and of programs that may be run, arguments,
/// environment. Paths and arguments need not be Unicode.
pub fn pack(job: &Job) -> (JobHeader, Vec<u8>) {
    let mut blob = Vec::new();
    let mut push = |string: &OsStr| {
        blob.extend_from_slice(string.as_bytes());
        blob.push(0);
    };
    for path in [&job.program, &job.cwd, &job.spill].into_iter().chain(&job.stdin).chain(&job.roots) {
        push(path.as_os_str());
    }
    job.publishes.iter().chain(&job.watches).chain(&job.shared).for_each(|(folder, _)| push(folder.as_os_str()));
    if let Some(forbids) = &job.forbids {
        [&forbids.stubs].into_iter().chain(&forbids.own).for_each(|folder| push(folder.as_os_str()));
    }
    job.argv.iter().for_each(|argument| push(argument));
    for (name, value) in &job.env {
        let mut variable = name.clone();
        variable.push("=");
        variable.push(value);
        push(&variable);
    }
    let header = JobHeader {
        timeout: job.timeout,
        grace: job.grace,
        afterlife: job.afterlife,
        has_stdin: job.stdin.is_some(),
        roots: job.roots.len(),
        arguments: job.argv.len(),
        publishes: job.publishes.iter().map(|(_, glob)| glob.clone()).collect(),
        forbids: job.forbids.as_ref().map(|forbids| (forbids.programs.clone(), forbids.own.len())),
        faults: job.faults.clone(),
        watches: job.watches.iter().map(|(_, glob)| glob.clone()).collect(),
        shared: job.shared.iter().map(|(_, glob)| glob.clone()).collect(),
        rules: job.rules,
        windows: job.windows.clone(),
        change: job.change.clone(),
    };
    (header, blob)
}

/// The inverse of [`pack`].
pub fn unpack(header: &JobHeader, blob: &[u8]) -> Job {
    let own = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let mut strings = blob.split_inclusive(|&byte| byte == 0).map(|string| own(&string[..string.len() - 1]));
    let mut path = || PathBuf::from(strings.next().unwrap_or_default());
    let (program, cwd, spill) = (path(), path(), path());
    let stdin = header.has_stdin.then(&mut path);
    let roots = (0..header.roots).map(|_| path()).collect();
    let publishes = header.publishes.iter().map(|glob| (path(), glob.clone())).collect();
    let watches = header.watches.iter().map(|glob| (path(), glob.clone())).collect();
    let shared = header.shared.iter().map(|glob| (path(), glob.clone())).collect();
    let forbids = header.forbids.as_ref().map(|(programs, own)| Forbids {
        programs: programs.clone(),
        stubs: path(),
        own: (0..*own).map(|_| path()).collect(),
    });
    let argv = strings.by_ref().take(header.arguments).collect();
    let env = strings
        .filter_map(|variable| {
            // A name may begin with `=`, but is never empty.
            let bytes = variable.as_bytes();
            let equals = bytes.iter().skip(1).position(|&byte| byte == b'=')? + 1;
            Some((own(&bytes[..equals]), own(&bytes[equals + 1..])))
        })
        .collect();
    Job {
        program,
        argv,
        env,
        cwd,
        stdin,
        timeout: header.timeout,
        grace: header.grace,
        afterlife: header.afterlife,
        roots,
        spill,
        publishes,
        forbids,
        faults: header.faults.clone(),
        watches,
        shared,
        rules: header.rules,
        windows: header.windows.clone(),
        change: header.change.clone(),
    }
}

/// Writes one message. Whole: two threads that share a socket must take turns.
pub fn send(mut socket: impl Write, message: &impl Serialize, blob: &[u8]) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(io::Error::other);
    let mut frame = Vec::with_capacity(8 + json.len() + blob.len());
    frame.extend_from_slice(&length(&json)?.to_ne_bytes());
    frame.extend_from_slice(&length(blob)?.to_ne_bytes());
    frame.extend_from_slice(&json);
    frame.extend_from_slice(blob);
    socket.write_all(&frame)
}

/// Reads one message. `UnexpectedEof` says that the other side is gone.
pub fn receive<T: DeserializeOwned>(mut socket: impl Read) -> io::Result<(T, Vec<u8>)> {
    let mut lengths = [0; 8];
    socket.read_exact(&mut lengths)?;
    let part =
        |at: usize| u32::from_ne_bytes([lengths[at], lengths[at + 1], lengths[at + 2], lengths[at + 3]]) as usize;
    let mut body = vec![0; part(0) + part(4)];
    socket.read_exact(&mut body)?;
    let blob = body.split_off(part(0));
    Ok((serde_json::from_slice(&body)?, blob))
}

/// Passes an open file to the other side, with one byte that carries it. The place in the file is common to both sides.
pub fn send_file(socket: impl AsFd, file: &File) -> io::Result<()> {
    let files = [file.as_fd()];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    if !control.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::empty())?;
    Ok(())
}

/// Takes a file that [`send_file`] has sent.
///
/// # Errors
///
/// Also if what comes next is no file.
pub fn receive_file(socket: impl AsFd) -> io::Result<File> {
    let mut byte = [0];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty())?;
    let mut files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let file = files.next().and_then(|mut files| files.next()).ok_or(io::ErrorKind::InvalidData)?;
    // Not every system can do this with the call before; whoever was started in between closes what it inherits.
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::CLOEXEC)?;
    Ok(File::from(file))
}

#[cfg(test)]
mod tests {
    use std::io::Seek;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::model::{Effect, FaultCall};

    #[test]
    fn a_file_comes_behind_its_message_and_what_follows_is_whole() {
        let (ours, theirs) = UnixStream::pair().expect("a socket");
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"output").expect("written");
        send(&theirs, &Answer::Unable("one".to_owned()), b"blob").expect("sent");
        send_file(&theirs, &file).expect("sent");
        drop(file);
        send(&theirs, &Answer::Unable("two".to_owned()), &[]).expect("sent");
        let word = |answer| if let Answer::Unable(word) = answer { word } else { String::new() };
        let (answer, blob) = receive::<Answer>(&ours).expect("a message");
        assert_eq!((word(answer).as_str(), blob.as_slice()), ("one", &b"blob"[..]));
        let mut file = receive_file(&ours).expect("a file");
        let mut text = String::new();
        file.rewind().expect("from the start");
        file.read_to_string(&mut text).expect("read");
        assert_eq!(text, "output");
        assert!(rustix::io::fcntl_getfd(&file).expect("flags").contains(rustix::io::FdFlags::CLOEXEC));
        assert_eq!(word(receive::<Answer>(&ours).expect("a message").0), "two");
        send(&theirs, &Answer::Unable("no file".to_owned()), &[]).expect("sent");
        assert!(receive_file(&ours).is_err());
    }

    #[test]
    fn a_job_survives_the_wire_byte_for_byte() {
        let job = Job {
            program: "/bin/x".into(),
            argv: vec!["x".into(), "".into(), OsString::from_vec(vec![0xff, b'a'])],
            env: vec![("A".into(), "b=c".into()), ("EMPTY".into(), "".into()), ("=odd".into(), "1".into())],
            cwd: OsString::from_vec(b"/caf\xe9".to_vec()).into(),
            stdin: Some("/in".into()),
            timeout: Duration::from_secs(1),
            grace: Duration::from_millis(5),
            afterlife: Duration::from_millis(6),
            roots: vec!["/a".into()],
            spill: "/b".into(),
            publishes: vec![("/p".into(), "a/*".into()), ("/s".into(), "b".into())],
            forbids: Some(Forbids {
                programs: vec![Forbid { program: "tmux".to_owned(), observe: true }],
                stubs: "/s/stubs".into(),
                own: vec!["/s".into(), OsString::from_vec(b"/p\xe9".to_vec()).into()],
            }),
            faults: vec![Fault {
                call: FaultCall::Rename,
                path: Some("*.pid".to_owned()),
                nth: Some(2),
                effect: Effect::Delay(Duration::from_millis(7)),
            }],
            watches: vec![("/tmp".into(), "sweep_*".into())],
            shared: vec![("/var/tmp".into(), "*".into())],
            rules: Rules::Windows,
            windows: WindowsRules { strict: true, ..WindowsRules::default() },
            change: Some(Change::Umask(0o077)),
        };
        let (header, blob) = pack(&job);
        let mut bytes = Vec::new();
        send(&mut bytes, &Order::Run(Box::new(header)), &blob).expect("a vector takes it");
        let (order, blob): (Order, _) = receive(&*bytes).expect("what was sent");
        let Order::Run(header) = order else { panic!("another order came out") };
        let back = unpack(&header, &blob);
        assert_eq!((back.argv, back.env, back.timeout), (job.argv, job.env, job.timeout));
        assert_eq!((back.publishes, back.watches, back.shared), (job.publishes, job.watches, job.shared));
        assert_eq!((back.forbids, back.faults), (job.forbids, job.faults));
        assert_eq!(
            (back.cwd, back.stdin, back.roots, back.spill, back.rules, back.windows, back.change),
            (job.cwd, job.stdin, job.roots, job.spill, job.rules, job.windows, job.change)
        );
    }
}
