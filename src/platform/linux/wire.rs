//! Messages between the harness and a supervisor: JSON for what is text, a blob for what is bytes.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::{Job, Outcome};

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

/// A [`Job`] without its byte strings.
#[derive(Debug, Serialize, Deserialize)]
pub struct JobHeader {
    program: PathBuf,
    cwd: PathBuf,
    stdin: Option<PathBuf>,
    timeout: Duration,
    grace: Duration,
    roots: Vec<PathBuf>,
    spill: PathBuf,
    arguments: usize,
}

/// A job as a header, and as a blob of NUL-terminated strings: its arguments, then its environment.
pub fn pack(job: &Job) -> (JobHeader, Vec<u8>) {
    let mut blob = Vec::new();
    for argument in &job.argv {
        blob.extend_from_slice(argument.as_bytes());
        blob.push(0);
    }
    for (name, value) in &job.env {
        blob.extend_from_slice(name.as_bytes());
        blob.push(b'=');
        blob.extend_from_slice(value.as_bytes());
        blob.push(0);
    }
    let header = JobHeader {
        program: job.program.clone(),
        cwd: job.cwd.clone(),
        stdin: job.stdin.clone(),
        timeout: job.timeout,
        grace: job.grace,
        roots: job.roots.clone(),
        spill: job.spill.clone(),
        arguments: job.argv.len(),
    };
    (header, blob)
}

/// The inverse of [`pack`].
pub fn unpack(header: JobHeader, blob: &[u8]) -> Job {
    let mut strings = blob.split_inclusive(|&byte| byte == 0).map(|string| &string[..string.len() - 1]);
    let argv = strings.by_ref().take(header.arguments).map(|s| OsStr::from_bytes(s).to_owned()).collect();
    let env = strings
        .filter_map(|string| {
            // A name may begin with `=`, but is never empty.
            let equals = string.iter().skip(1).position(|&byte| byte == b'=')? + 1;
            let own = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
            Some((own(&string[..equals]), own(&string[equals + 1..])))
        })
        .collect();
    Job {
        program: header.program,
        argv,
        env,
        cwd: header.cwd,
        stdin: header.stdin,
        timeout: header.timeout,
        grace: header.grace,
        roots: header.roots,
        spill: header.spill,
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
            cwd: "/".into(),
            stdin: None,
            timeout: Duration::from_secs(1),
            grace: Duration::from_millis(5),
            roots: vec!["/a".into()],
            spill: "/b".into(),
        };
        let (header, blob) = pack(&job);
        let mut bytes = Vec::new();
        send(&mut bytes, &Order::Run(header), &blob).expect("a vector takes it");
        let (order, blob): (Order, _) = receive(&*bytes).expect("what was sent");
        let Order::Run(header) = order else { panic!("another order came out") };
        let back = unpack(header, &blob);
        assert_eq!((back.argv, back.env, back.timeout), (job.argv, job.env, job.timeout));
    }
}
