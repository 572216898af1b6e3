//! Who may get to what this program makes: its user, the system, and the machine's administrators. Nobody else.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{
    GetTokenInformation, PSECURITY_DESCRIPTOR, PSID, SECURITY_ATTRIBUTES, TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::wide::wide;

/// A security descriptor that says so. It is made once, and never freed.
#[derive(Debug, Clone, Copy)]
pub struct Private(PSECURITY_DESCRIPTOR);

// SAFETY: nobody changes what it points to.
unsafe impl Send for Private {}
// SAFETY: nobody changes what it points to.
unsafe impl Sync for Private {}

impl Private {
    /// The one of this process.
    ///
    /// # Errors
    ///
    /// If the system does not tell who this user is.
    pub fn get() -> io::Result<Self> {
        static MADE: OnceLock<Private> = OnceLock::new();
        if let Some(made) = MADE.get() {
            return Ok(*made);
        }
        let made = Self::make()?;
        Ok(*MADE.get_or_init(|| made))
    }

    fn make() -> io::Result<Self> {
        let text = wide(format!("O:{}{}", user()?, access_list()?));
        let mut descriptor = ptr::null_mut();
        // SAFETY: the text ends with a NUL; what is made is ours.
        let made = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text.as_ptr(),
                SDDL_REVISION_1,
                &raw mut descriptor,
                ptr::null_mut(),
            )
        };
        if made == 0 { Err(io::Error::last_os_error()) } else { Ok(Self(descriptor)) }
    }

    /// For a call that makes something; what it makes is not inherited by other processes.
    #[must_use]
    pub fn attributes(self) -> SECURITY_ATTRIBUTES {
        SECURITY_ATTRIBUTES {
            nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or(u32::MAX),
            lpSecurityDescriptor: self.0,
            bInheritHandle: 0,
        }
    }
}

/// The descriptor's access list, as text. It is protected, so that nothing comes from the folder above; everything below
/// has the same.
///
/// # Errors
///
/// If the system does not tell who this user is.
pub fn access_list() -> io::Result<String> {
    Ok(format!("D:P(A;OICI;FA;;;{})(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", user()?))
}

/// This process's user, as `S-1-…`.
///
/// # Errors
///
/// What the system says.
pub fn user() -> io::Result<String> {
    let mut token = ptr::null_mut();
    // SAFETY: the process's own handle needs no closing; the token is ours.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new, and nobody else's.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    // The structure, and behind it what it points to: at most 68 bytes.
    let mut buffer = [0usize; 32];
    let mut needed = 0;
    // SAFETY: the buffer is aligned for the structure, and as large as is said.
    let told = unsafe {
        let size = u32::try_from(size_of_val(&buffer)).unwrap_or(u32::MAX);
        GetTokenInformation(token.as_raw_handle(), TokenUser, buffer.as_mut_ptr().cast(), size, &raw mut needed)
    };
    if told == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has filled it in.
    text(unsafe { (*buffer.as_ptr().cast::<TOKEN_USER>()).User.Sid })
}

/// A user, as `S-1-…`.
///
/// # Errors
///
/// What the system says.
pub fn text(user: PSID) -> io::Result<String> {
    let mut text = ptr::null_mut();
    // SAFETY: the caller's value is a user's; what is made is ours to free.
    if unsafe { ConvertSidToStringSidW(user, &raw mut text) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it ends with a NUL, is read before it is freed, and freed once.
    unsafe {
        let length = (0..).take_while(|&at| *text.add(at) != 0).count();
        let owned = String::from_utf16_lossy(std::slice::from_raw_parts(text, length));
        LocalFree(text.cast());
        Ok(owned)
    }
}
