//! A question to an engine's client: answered within a time, in a bounded answer.

use std::io::{self, ErrorKind, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::words::{beginning, duration, shown};

/// How long a client may take to answer. An engine that was asleep takes seconds.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// No answer is longer: what an engine knows of one image or container has some kilobytes.
const ANSWER: u64 = 4 << 20;

/// What a program prints to a command.
///
/// # Errors
///
/// Its own words, if it fails; what it did instead, if it gives no answer within that time, or one without an end. It is
/// ended then.
pub fn said_by(program: &str, arguments: &[&str], within: Duration) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        if error.kind() == ErrorKind::NotFound { "is not on PATH".to_owned() } else { error.to_string() }
    })?;
    let answer = listen(&mut child, within);
    let status = answer.and_then(|answer| Ok((answer, child.wait().map_err(|error| error.to_string())?)));
    let ((stdout, stderr), status) = status.inspect_err(|_| {
        let _ = child.kill().and_then(|()| child.wait());
    })?;
    if status.success() {
        return Ok(shown(&stdout));
    }
    let words = shown(&stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    Err(if words.is_empty() { format!("fails ({status}) without a word") } else { beginning(&words, 800) })
}

/// Both of its streams to their ends.
fn listen(child: &mut Child, within: Duration) -> Result<(Vec<u8>, Vec<u8>), String> {
    let deadline = Instant::now() + within;
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
    ];
    let (tell, told) = mpsc::channel();
    for (place, stream) in streams.into_iter().flatten().enumerate() {
        let tell = tell.clone();
        // It ends with the stream: when all that have it are gone.
        let read = move || {
            let _ = tell.send((place, bounded(stream)));
        };
        thread::Builder::new().spawn(read).map_err(|error| format!("cannot be listened to: {error}"))?;
    }
    drop(tell);
    let mut said = [None, None];
    while said.iter().any(Option::is_none) {
        let (place, bytes) = match told.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(told) => told,
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("gives no answer in {}: it, or its engine, hangs", duration(within)));
            }
            Err(RecvTimeoutError::Disconnected) => return Err("cannot be listened to".to_owned()),
        };
        let bytes = bytes.map_err(|error| format!("cannot be listened to: {error}"))?;
        if bytes.len() as u64 > ANSWER {
            return Err(format!("answers with more than {} MiB", ANSWER >> 20));
        }
        said[place] = Some(bytes);
    }
    let [stdout, stderr] = said.map(Option::unwrap_or_default);
    Ok((stdout, stderr))
}

/// One byte more than an answer may have tells that it has more.
fn bounded(stream: Box<dyn Read + Send>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(ANSWER + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(script: &str, within: Duration) -> Result<String, String> {
        said_by("sh", &["-c", script], within)
    }

    #[test]
    fn an_answer_is_what_is_printed_and_a_failure_what_is_said() {
        if cfg!(windows) {
            return; // There need not be an `sh`.
        }
        assert_eq!(asked("echo a; echo b >&2", PATIENCE), Ok("a\n".to_owned()));
        assert_eq!(asked("echo a; echo 'b  c' >&2; exit 1", PATIENCE), Err("b c".to_owned()));
        let why = asked("exit 3", PATIENCE).expect_err("a failure");
        assert!(why.contains("without a word"), "{why}");
        let why = said_by("hostproof-nobody-has-this", &[], PATIENCE).expect_err("no program");
        assert_eq!(why, "is not on PATH");
    }

    #[test]
    fn no_answer_is_waited_for_without_an_end() {
        if cfg!(windows) {
            return; // As above.
        }
        let why = asked("exec sleep 50", Duration::from_millis(200)).expect_err("no answer");
        assert!(why.contains("gives no answer in 200ms"), "{why}");
        let why = asked("exec cat /dev/zero", PATIENCE).expect_err("no end");
        assert_eq!(why, "answers with more than 4 MiB");
    }
}
