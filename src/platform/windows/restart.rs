//! The Restart Manager, which installers ask who uses the files that they want to replace. It knows of files alone; and it
//! knows users that this process may not look into.

use std::io;
use std::path::Path;

use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, ERROR_SUCCESS};
use windows_sys::Win32::System::RestartManager::{
    CCH_RM_SESSION_KEY, RM_PROCESS_INFO, RmEndSession, RmGetList, RmRegisterResources, RmStartSession,
};

use super::clock;
use super::wide::wide;

/// Processes that use a file: each number with the time of its creation. What is no file has none here, since to ask for a
/// folder makes the whole answer an error.
///
/// That nobody is named proves nothing: Wine never names anybody.
///
/// # Errors
///
/// What the system says.
pub fn users_of(file: &Path) -> io::Result<Vec<(u32, u64)>> {
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let session = Session::start()?;
    let name = wide(file);
    let names = [name.as_ptr()];
    // SAFETY: the session is open; there is one name, which ends with a zero; of the other kinds there are none.
    check(unsafe { RmRegisterResources(session.0, 1, names.as_ptr(), 0, std::ptr::null(), 0, std::ptr::null()) })?;
    let mut users: Vec<RM_PROCESS_INFO> = Vec::new();
    loop {
        let (mut needed, mut count, mut reasons) = (0, u32::try_from(users.len()).unwrap_or(0), 0);
        // SAFETY: the session is open, and the list has room for as many as is said.
        let told =
            unsafe { RmGetList(session.0, &raw mut needed, &raw mut count, users.as_mut_ptr(), &raw mut reasons) };
        if told == ERROR_MORE_DATA && (users.len() as u32) < needed {
            users = vec![RM_PROCESS_INFO::default(); needed as usize];
            continue;
        }
        check(told)?;
        let named = users.iter().take(count as usize);
        return Ok(named
            .map(|user| (user.Process.dwProcessId, clock::number(user.Process.ProcessStartTime)))
            .collect());
    }
}

/// Whether it can be asked at all.
///
/// # Errors
///
/// What the system says.
pub fn takes_questions() -> io::Result<()> {
    Session::start().map(drop)
}

fn check(told: u32) -> io::Result<()> {
    if told == ERROR_SUCCESS { Ok(()) } else { Err(io::Error::from_raw_os_error(told.cast_signed())) }
}

/// A user has but 64 of these.
struct Session(u32);

impl Session {
    fn start() -> io::Result<Self> {
        let mut key = [0u16; CCH_RM_SESSION_KEY as usize + 1];
        let mut session = 0;
        // SAFETY: the key's buffer is as long as the system wants it.
        check(unsafe { RmStartSession(&raw mut session, 0, key.as_mut_ptr()) })?;
        Ok(Self(session))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the session is open, and is used no more.
        unsafe { RmEndSession(self.0) };
    }
}
