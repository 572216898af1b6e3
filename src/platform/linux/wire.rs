//! Messages between the harness and a supervisor: JSON for what is text, a blob for what is bytes.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::{Job, Outcome};
use crate::model::{Rules, WindowsRules};

/// From the harness.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Run a job; its arguments and environment are the blob.
    Run(JobHeader),
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
    /// The job is over; the output that is in memory is the blob, stdout first.
    Done(Box<Outcome>, usize),
}

/// A [`Job`] without its byte strings: what they are is told by their order.
#[derive(Debug, Serialize, Deserialize)]
pub struct JobHeader {
    timeout: Duration,
    grace: Duration,
    has_stdin: bool,
    roots: usize,
    arguments: usize,
    rules: Rules,
    windows: WindowsRules,
}

/// A job as a header, and as a blob of NUL-terminated strings: program, cwd, spill folder, input if there is one, roots,
/// arguments, environment. Paths and arguments need not be Unicode.
pub fn pack(job: &Job) -> (JobHeader, Vec<u8>) {
    let mut blob = Vec::new();
    let mut push = |string: &OsStr| {
        blob.extend_from_slice(string.as_bytes());
        blob.push(0);
    };
    for path in [&job.program, &job.cwd, &job.spill].into_iter().chain(&job.stdin).chain(&job.roots) {
        push(path.as_os_str());
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
        has_stdin: job.stdin.is_some(),
        roots: job.roots.len(),
        arguments: job.argv.len(),
        rules: job.rules,
        windows: job.windows.clone(),
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
        roots,
        spill,
        rules: header.rules,
        windows: header.windows.clone(),
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

#[cfg(test)]
mod tests {
    use super::*;

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
            roots: vec!["/a".into()],
            spill: "/b".into(),
            rules: Rules::Windows,
            windows: WindowsRules { strict: true, ..WindowsRules::default() },
        };
        let (header, blob) = pack(&job);
        let mut bytes = Vec::new();
        send(&mut bytes, &Order::Run(header), &blob).expect("a vector takes it");
        let (order, blob): (Order, _) = receive(&*bytes).expect("what was sent");
        let Order::Run(header) = order else { panic!("another order came out") };
        let back = unpack(&header, &blob);
        assert_eq!((back.argv, back.env, back.timeout), (job.argv, job.env, job.timeout));
        assert_eq!(
            (back.cwd, back.stdin, back.roots, back.spill, back.rules, back.windows),
            (job.cwd, job.stdin, job.roots, job.spill, job.rules, job.windows)
        );
    }
}
