//! Starting a job's first process: in a session of its own, with default signals (the supervisor ignores none), nothing inherited but its streams.
//!
//! The child shares the supervisor's memory until it executes the program (as `vfork` does), so that a start costs the
//! same however large the supervisor is, and a failure is told without a pipe.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use super::super::{Job, StartError};
use super::changes::Prepared;
use super::filter::{self, Filter, NotOn};

/// Enough for the handful of frames between the clone and the exec.
const STACK: usize = 64 * 1024;

/// What the child reads, and where it leaves its error. Everything is prepared before it exists, since it may only make
/// system calls.
struct Plan {
    program: CString,
    argv: Vec<*const libc::c_char>,
    shell_argv: Vec<*const libc::c_char>,
    env: Vec<*const libc::c_char>,
    cwd: CString,
    streams: [RawFd; 3],
    /// The filter to put on, and where to send its listener.
    filter: Option<(libc::sock_fprog, RawFd)>,
    /// What is otherwise about it.
    change: Option<Prepared>,
    /// The error with which it was not put on.
    unfiltered: Option<i32>,
    failed: Option<(Step, i32)>,
}

#[derive(Clone, Copy)]
enum Step {
    Session,
    Streams,
    Enter,
    Filter,
    Change,
    Run,
}

/// Starts the job's program, under a filter if one is given; says, too, whether that is on. The descriptors must all be
/// above 2.
pub fn spawn(
    job: &Job,
    streams: [BorrowedFd<'_>; 3],
    filter: Option<&Filter>,
) -> Result<(u32, io::Result<()>), StartError> {
    let failed = |action: &str, file: &Path, errno| StartError {
        action: action.to_owned(),
        file: file.to_string_lossy().into_owned(),
        errno,
    };
    let text = |value: &OsStr| {
        CString::new(value.as_bytes()).map_err(|_| failed("pass a NUL byte to", &job.program, libc::EINVAL))
    };

    let program = text(job.program.as_os_str())?;
    let arguments: Vec<CString> = job.argv.iter().map(|argument| text(argument)).collect::<Result<_, _>>()?;
    let mut variables = Vec::with_capacity(job.env.len());
    for (name, value) in &job.env {
        let mut variable = name.clone();
        variable.push("=");
        variable.push(value);
        variables.push(text(&variable)?);
    }
    let pointers = |strings: &[CString]| strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect::<Vec<_>>();
    // What execvp does with a script that has no shebang.
    let shell_argv = [c"/bin/sh".as_ptr(), program.as_ptr()]
        .into_iter()
        .chain(arguments.iter().skip(1).map(|s| s.as_ptr()))
        .chain([ptr::null()])
        .collect();

    let mut plan = Plan {
        argv: pointers(&arguments),
        shell_argv,
        env: pointers(&variables),
        cwd: text(job.cwd.as_os_str())?,
        streams: streams.map(|stream| stream.as_raw_fd()),
        program,
        filter: filter.map(Filter::for_child),
        change: Prepared::of(job).map_err(|_| failed("pass a NUL byte to", &job.program, libc::EINVAL))?,
        unfiltered: None,
        failed: None,
    };

    let mut stack = vec![0u128; STACK / size_of::<u128>()];
    let namespaces = plan.change.as_ref().map_or(0, Prepared::namespaces);
    // SAFETY: the stack is aligned, large enough, and grows down from the end that is passed; `plan` and the strings
    // that it points into outlive the child's use of them, since with CLONE_VFORK this thread runs on only when the
    // child has executed a program or exited.
    let pid = unsafe {
        libc::clone(
            child,
            stack.as_mut_ptr_range().end.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | namespaces,
            (&raw mut plan).cast(),
        )
    };
    let Ok(pid) = u32::try_from(pid) else {
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN);
        let action = if namespaces == 0 { "start a process for" } else { StartError::CHANGE };
        return Err(failed(action, &job.program, errno));
    };
    let Some((step, errno)) = plan.failed else {
        let filtered = plan.unfiltered.map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)));
        return Ok((pid, filtered));
    };
    // SAFETY: the child exited with an error and is ours to take.
    unsafe { libc::waitpid(pid.cast_signed(), ptr::null_mut(), libc::__WALL) };
    Err(match step {
        Step::Session | Step::Streams | Step::Filter => failed("prepare a process for", &job.program, errno),
        Step::Enter => failed("enter", &job.cwd, errno),
        Step::Change => failed(StartError::CHANGE, &job.program, errno),
        Step::Run => failed("run", &job.program, errno),
    })
}

/// Runs in the child, on its own stack, in the supervisor's memory.
extern "C" fn child(plan: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `spawn` passes a plan that nobody else uses meanwhile, and the calls are async-signal-safe. Signal
    // dispositions and the descriptor table are copies, since neither CLONE_SIGHAND nor CLONE_FILES is given.
    unsafe {
        let plan = &mut *plan.cast::<Plan>();
        let (step, errno) = attempt(plan);
        plan.failed = Some((step, errno));
        libc::_exit(127)
    }
}

/// Returns only if something failed.
///
/// # Safety
///
/// Only for a child that shares nothing but memory with its suspended parent.
unsafe fn attempt(plan: &mut Plan) -> (Step, i32) {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
    // SAFETY: plain system calls on values that outlive them.
    unsafe {
        if libc::setsid() < 0 {
            return (Step::Session, errno());
        }
        for (target, &stream) in (0..).zip(&plan.streams) {
            if libc::dup2(stream, target) < 0 {
                return (Step::Streams, errno());
            }
        }
        if libc::chdir(plan.cwd.as_ptr()) < 0 {
            return (Step::Enter, errno());
        }
        let mut none = std::mem::MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
        if let Some((program, socket)) = &plan.filter {
            match filter::install(program, *socket) {
                None => {}
                Some(NotOn::Refused(errno)) => plan.unfiltered = Some(errno),
                Some(NotOn::Untold(errno)) => return (Step::Filter, errno),
            }
        }
        if let Some(change) = &plan.change
            && let Err(errno) = change.make()
        {
            return (Step::Change, errno);
        }
        execute(plan, plan.program.as_ptr(), plan.argv.as_ptr());
        if errno() == libc::ENOEXEC {
            execute(plan, c"/bin/sh".as_ptr(), plan.shell_argv.as_ptr());
        }
        (Step::Run, errno())
    }
}

/// Executes a program; without being asked only where that is what this job's own filter wants. Returns only if it failed.
///
/// # Safety
///
/// As `execve`.
unsafe fn execute(plan: &Plan, program: *const libc::c_char, argv: *const *const libc::c_char) {
    // SAFETY: what the caller promises.
    unsafe {
        if plan.filter.is_some() {
            filter::execute(program, argv, plan.env.as_ptr());
        } else {
            libc::execve(program, argv, plan.env.as_ptr());
        }
    }
}
