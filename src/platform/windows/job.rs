//! Job objects: what the system itself counts as one check.

use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, HANDLE};
use windows_sys::Win32::System::JobObjects::{
    CreateJobObjectW, IsProcessInJob, JOB_OBJECT_LIMIT, JOBOBJECT_ASSOCIATE_COMPLETION_PORT,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JOBOBJECTINFOCLASS, JobObjectAssociateCompletionPortInformation,
    JobObjectBasicProcessIdList, JobObjectExtendedLimitInformation, QueryInformationJobObject, SetInformationJobObject,
    TerminateJobObject,
};

use super::port::Port;

/// The messages that a job sends to its port. They may get lost, says the documentation, so that each is but a hint.
pub mod message {
    pub use windows_sys::Win32::System::SystemServices::{
        JOB_OBJECT_MSG_ABNORMAL_EXIT_PROCESS as ABNORMAL_EXIT, JOB_OBJECT_MSG_EXIT_PROCESS as EXIT,
        JOB_OBJECT_MSG_NEW_PROCESS as NEW,
    };
}

/// A job object. This is its only handle: it is not inherited, so that it ends with its owner, however that ends.
#[derive(Debug)]
pub struct JobObject(OwnedHandle);

impl JobObject {
    /// A job with those limits.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new(limits: JOB_OBJECT_LIMIT) -> io::Result<Self> {
        // SAFETY: a job without a name and with the default security needs no arguments.
        let job = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new, and nobody else's.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(job) });
        let mut information = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        information.BasicLimitInformation.LimitFlags = limits;
        job.set(JobObjectExtendedLimitInformation, &information)?;
        Ok(job)
    }

    /// The handle, for a process that is to start in the job.
    #[must_use]
    pub fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    /// Has the job tell a port, under that key, which processes start and end in it.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn tell(&self, port: &Port, key: usize) -> io::Result<()> {
        let association = JOBOBJECT_ASSOCIATE_COMPLETION_PORT {
            CompletionKey: ptr::without_provenance_mut(key),
            CompletionPort: port.raw(),
        };
        self.set(JobObjectAssociateCompletionPortInformation, &association)
    }

    fn set<T>(&self, class: JOBOBJECTINFOCLASS, value: &T) -> io::Result<()> {
        let size = u32::try_from(size_of::<T>()).unwrap_or(u32::MAX);
        // SAFETY: every caller passes the structure that belongs to the class.
        let set = unsafe { SetInformationJobObject(self.raw(), class, ptr::from_ref(value).cast(), size) };
        if set == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// The processes that are alive in the job, and in the jobs below it.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn pids(&self) -> io::Result<Vec<u32>> {
        // Two 32-bit counts, how many there are and how many were listed, then the list.
        let mut buffer = vec![0usize; 1 + 64];
        loop {
            let size = u32::try_from(size_of_val(&buffer[..])).map_err(io::Error::other)?;
            // SAFETY: the buffer is aligned for the structure, and as large as is said.
            let told = unsafe {
                QueryInformationJobObject(
                    self.raw(),
                    JobObjectBasicProcessIdList,
                    buffer.as_mut_ptr().cast(),
                    size,
                    ptr::null_mut(),
                )
            };
            let error = io::Error::last_os_error();
            if told == 0 && error.raw_os_error() != Some(ERROR_MORE_DATA.cast_signed()) {
                return Err(error);
            }
            // SAFETY: the system has filled in both counts.
            let [all, listed] = unsafe { buffer.as_ptr().cast::<[u32; 2]>().read() }.map(|count| count as usize);
            if told != 0 && listed >= all {
                return Ok(buffer[1..].iter().take(listed).filter_map(|&pid| u32::try_from(pid).ok()).collect());
            }
            // More may start before the next try.
            buffer = vec![0; 1 + all.max(buffer.len()) * 2];
        }
    }

    /// Whether a process is in the job, or in one below it. `None` if the system does not tell.
    #[must_use]
    pub fn has(&self, process: BorrowedHandle<'_>) -> Option<bool> {
        let mut is_in = 0;
        // SAFETY: both handles are open; the answer outlives the call.
        let told = unsafe { IsProcessInJob(process.as_raw_handle(), self.raw(), &raw mut is_in) };
        (told != 0).then_some(is_in != 0)
    }

    /// Ends everything in the job, and in the jobs below it. The end is not waited for.
    pub fn terminate(&self, code: u32) {
        // SAFETY: the job is open. That it may be empty is no error.
        unsafe { TerminateJobObject(self.raw(), code) };
    }
}
