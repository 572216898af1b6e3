//! Whose a process is, and what it may do.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::{HANDLE, LUID};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, GetSidSubAuthority, GetSidSubAuthorityCount, GetTokenInformation, LUID_AND_ATTRIBUTES,
    LookupPrivilegeValueW, PSID, SE_DEBUG_NAME, SE_PRIVILEGE_ENABLED, SID_AND_ATTRIBUTES, TOKEN_ACCESS_MASK,
    TOKEN_ADJUST_PRIVILEGES, TOKEN_ELEVATION, TOKEN_INFORMATION_CLASS, TOKEN_PRIVILEGES, TOKEN_QUERY, TokenElevation,
    TokenIntegrityLevel, TokenUser,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken, PROCESS_QUERY_LIMITED_INFORMATION};

/// The integrity level that the system's own processes have.
const OF_THE_SYSTEM: u32 = 0x4000;
/// Whose token may not be read: no user has this number.
pub const UNKNOWN: u32 = u32::MAX;

/// Whose a process is, and how far it may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credentials {
    /// The last part of the user's identifier (SID), which is one of a kind on a machine: 500 is its administrator, 18 the
    /// system, and what people make begins at 1000.
    pub user: u32,
    integrity: u32,
}

impl Credentials {
    /// Those of this process.
    #[must_use]
    pub fn mine() -> Option<Self> {
        static MINE: OnceLock<Option<Credentials>> = OnceLock::new();
        *MINE.get_or_init(|| Self::of_token(&own_token(TOKEN_QUERY).ok()?))
    }

    /// Those of another process. `None` if it is gone, or does not tell.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let process = super::process::open(pid, PROCESS_QUERY_LIMITED_INFORMATION).ok()?;
        Self::of_token(&token(process.as_raw_handle(), TOKEN_QUERY).ok()?)
    }

    fn of_token(token: &OwnedHandle) -> Option<Self> {
        Some(Self { user: last_part(token, TokenUser)?, integrity: last_part(token, TokenIntegrityLevel)? })
    }

    /// Whether it may do what `other` may not.
    #[must_use]
    pub fn exceed(&self, other: &Self) -> bool {
        self.integrity > other.integrity || self.integrity >= OF_THE_SYSTEM
    }
}

/// This process's user, as [`Credentials`] have it.
#[must_use]
pub fn user() -> Option<u32> {
    Credentials::mine().map(|mine| mine.user)
}

/// No file belongs to numbers here that an engine wants.
#[must_use]
pub fn user_and_group() -> Option<(u32, u32)> {
    None
}

/// Whether this process has an administrator's rights. `None` if the system does not tell.
#[must_use]
pub fn is_elevated() -> Option<bool> {
    let token = own_token(TOKEN_QUERY).ok()?;
    let told = told(&token, TokenElevation)?;
    // SAFETY: the system wrote this structure at the start of the buffer, which is aligned for it and not smaller.
    Some(unsafe { told.as_ptr().cast::<TOKEN_ELEVATION>().read() }.TokenIsElevated != 0)
}

/// Lets this process look into others of any user, if it has that right: it has to be asked for. What it starts from then
/// on has it, too, so this is for a process that starts none.
pub fn may_look_everywhere() {
    let Ok(token) = own_token(TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY) else { return };
    let mut luid = LUID::default();
    // SAFETY: the name is the system's own, and the number is written to a variable of ours.
    if unsafe { LookupPrivilegeValueW(std::ptr::null(), SE_DEBUG_NAME, &raw mut luid) } == 0 {
        return;
    }
    let privileges = TOKEN_PRIVILEGES {
        PrivilegeCount: 1,
        Privileges: [LUID_AND_ATTRIBUTES { Luid: luid, Attributes: SE_PRIVILEGE_ENABLED }],
    };
    // SAFETY: the token is open, and the structure says how long it is. Without the right, nothing changes.
    unsafe {
        AdjustTokenPrivileges(
            token.as_raw_handle(),
            0,
            &raw const privileges,
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
    };
}

fn own_token(rights: TOKEN_ACCESS_MASK) -> io::Result<OwnedHandle> {
    // SAFETY: the function takes nothing.
    token(unsafe { GetCurrentProcess() }, rights)
}

fn token(process: HANDLE, rights: TOKEN_ACCESS_MASK) -> io::Result<OwnedHandle> {
    let mut token: HANDLE = std::ptr::null_mut();
    // SAFETY: the process's handle is open, and the token's is written to a variable of ours.
    if unsafe { OpenProcessToken(process, rights, &raw mut token) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and nobody else's.
    Ok(unsafe { OwnedHandle::from_raw_handle(token) })
}

/// What a token tells, aligned for any of its structures.
fn told(token: &OwnedHandle, class: TOKEN_INFORMATION_CLASS) -> Option<Vec<u64>> {
    let mut buffer = vec![0u64; 64];
    let mut length = u32::try_from(size_of_val(&buffer[..])).unwrap_or(0);
    // SAFETY: the token is open, and the buffer has as many bytes as is said.
    let done = unsafe {
        GetTokenInformation(token.as_raw_handle(), class, buffer.as_mut_ptr().cast(), length, &raw mut length)
    };
    (done != 0).then_some(buffer)
}

/// The last part of the identifier that a token tells.
fn last_part(token: &OwnedHandle, class: TOKEN_INFORMATION_CLASS) -> Option<u32> {
    let buffer = told(token, class)?;
    // SAFETY: both classes have this structure at the start of the buffer, which is aligned for it and larger; the
    // identifier that it points to is in the buffer, too.
    unsafe {
        let sid: PSID = buffer.as_ptr().cast::<SID_AND_ATTRIBUTES>().read().Sid;
        let parts = *GetSidSubAuthorityCount(sid);
        Some(*GetSidSubAuthority(sid, u32::from(parts.checked_sub(1)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Child;
    use super::*;

    #[test]
    fn a_child_is_of_the_same_user_and_may_do_no_more() {
        let child = Child::that("wait", "", |_| {});
        let mine = Credentials::mine().expect("a user");
        let its = Credentials::of(child.pid).expect("a user");
        assert_eq!(its, mine);
        assert!(user() == Some(its.user) && its.user != UNKNOWN);
        let more = Credentials { integrity: mine.integrity + 1, ..mine };
        assert!(more.exceed(&mine) && !mine.exceed(&more) || mine.integrity >= OF_THE_SYSTEM);
        assert!(Credentials { integrity: OF_THE_SYSTEM, ..mine }.exceed(&mine));
    }
}
