//! Who may use a file or folder.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::path::Path;
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSecurityDescriptorToStringSecurityDescriptorW, GetNamedSecurityInfoW, SDDL_REVISION_1, SE_FILE_OBJECT,
};
use windows_sys::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACE_HEADER, ACL, DACL_SECURITY_INFORMATION, EqualSid, GetAce, INHERIT_ONLY_ACE, IsWellKnownSid,
    OWNER_SECURITY_INFORMATION, PSID, SetKernelObjectSecurity, WELL_KNOWN_SID_TYPE, WinBuiltinAdministratorsSid,
    WinCreatorOwnerRightsSid, WinLocalSystemSid,
};
use windows_sys::Win32::Storage::FileSystem::CreateDirectoryW;

use super::private::{self, Private};
use super::wide::wide;

/// What the system allocated, and wants back.
struct Local(*mut c_void);

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: the system gave it out to be freed in this way, once.
        unsafe { LocalFree(self.0) };
    }
}

/// Makes a folder for this user alone, the system and the administrators.
///
/// # Errors
///
/// What the system says.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    let attributes = Private::get()?.attributes();
    let path = wide(super::files::verbatim(path)?);
    // SAFETY: the path ends with a NUL, and the attributes outlive the call.
    let made = unsafe { CreateDirectoryW(path.as_ptr(), &raw const attributes) };
    if made == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Gives this user every right to what a handle stands for, which must have the right to say so.
///
/// # Errors
///
/// What the system says.
pub fn make_accessible(handle: BorrowedHandle<'_>) -> io::Result<()> {
    let descriptor = Private::get()?.attributes().lpSecurityDescriptor;
    // SAFETY: the handle is open, and the descriptor is never freed.
    let set = unsafe { SetKernelObjectSecurity(handle.as_raw_handle(), DACL_SECURITY_INFORMATION, descriptor) };
    if set == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What a file's descriptor says: the owner and the access list, both of which live as long as the descriptor.
struct Rights {
    owner: PSID,
    list: *mut ACL,
    descriptor: Local,
}

impl Rights {
    fn of(path: &Path) -> Option<Self> {
        let path = wide(super::files::verbatim(path).ok()?);
        let (mut owner, mut list, mut descriptor) = (null_mut(), null_mut(), null_mut());
        // SAFETY: the path ends with a NUL; what comes back lives as long as the descriptor, which its owner frees.
        let error = unsafe {
            GetNamedSecurityInfoW(
                path.as_ptr(),
                SE_FILE_OBJECT,
                OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                &raw mut owner,
                null_mut(),
                &raw mut list,
                null_mut(),
                &raw mut descriptor,
            )
        };
        (error == ERROR_SUCCESS).then(|| Self { owner, list, descriptor: Local(descriptor) })
    }

    /// Whether somebody is allowed anything who is neither the owner nor one of those who may do everything anyway. A
    /// missing list allows everybody everything.
    fn admit_others(&self) -> bool {
        const ALLOWED: u8 = 0;
        const DENIED: u8 = 1;
        if self.list.is_null() {
            return true;
        }
        // SAFETY: the list is the descriptor's, which lives; an entry's index is below its count, and an entry that
        // allows has the layout that is read, with the name of whom it allows at its end.
        unsafe {
            (0..u32::from((*self.list).AceCount)).any(|index| {
                let mut entry = null_mut();
                if GetAce(self.list, index, &raw mut entry) == 0 {
                    return true;
                }
                let header = *entry.cast::<ACE_HEADER>();
                if header.AceType == DENIED || u32::from(header.AceFlags) & INHERIT_ONLY_ACE != 0 {
                    return false;
                }
                let who = (&raw mut (*entry.cast::<ACCESS_ALLOWED_ACE>()).SidStart).cast::<c_void>();
                header.AceType != ALLOWED || !self.is_ours(who)
            })
        }
    }

    fn is_ours(&self, who: PSID) -> bool {
        const TRUSTED: [WELL_KNOWN_SID_TYPE; 3] =
            [WinLocalSystemSid, WinBuiltinAdministratorsSid, WinCreatorOwnerRightsSid];
        // SAFETY: both are the descriptor's, which lives.
        unsafe { EqualSid(who, self.owner) != 0 || TRUSTED.into_iter().any(|kind| IsWellKnownSid(who, kind) != 0) }
    }

    /// The access list, as text.
    fn text(&self) -> Option<String> {
        let mut text = null_mut();
        let mut length = 0;
        // SAFETY: the descriptor lives; the text is freed by its owner.
        let made = unsafe {
            ConvertSecurityDescriptorToStringSecurityDescriptorW(
                self.descriptor.0,
                SDDL_REVISION_1,
                DACL_SECURITY_INFORMATION,
                &raw mut text,
                &raw mut length,
            )
        };
        if made == 0 {
            return None;
        }
        let _owner = Local(text.cast());
        // SAFETY: the system wrote so many units.
        let units = unsafe { std::slice::from_raw_parts(text, length as usize) };
        Some(String::from_utf16_lossy(units).trim_end_matches('\0').to_owned())
    }
}

/// Whether a folder has the access list that [`make_private_folder`] gives.
pub fn is_private(path: &Path) -> bool {
    let made = private::access_list();
    made.is_ok_and(|made| Rights::of(path).and_then(|rights| rights.text()).is_some_and(|text| text == made))
}

/// Whether other users can get to a path. The folders above do not matter: everybody may pass through them, unless an
/// administrator takes that right away. What can't be read is taken to be open.
pub fn is_open_to_others(path: &Path) -> bool {
    Rights::of(path).is_none_or(|rights| rights.admit_others())
}
