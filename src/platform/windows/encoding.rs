//! The code page that programs without a console write in.

use windows_sys::Win32::Globalization::{CP_ACP, CP_OEMCP, MB_ERR_INVALID_CHARS, MultiByteToWideChar};

/// What is not UTF-8 is in a code page here.
pub const HAS_CODE_PAGES: bool = true;

/// What bytes say in the system's code page: in the ANSI one, which most programs write in when their output is no
/// console, else in the OEM one, which `cmd.exe` and its kin use. `None` if they say nothing in either.
#[must_use]
pub fn of_code_page(bytes: &[u8]) -> Option<String> {
    [CP_ACP, CP_OEMCP].into_iter().find_map(|page| decoded(page, bytes))
}

fn decoded(page: u32, bytes: &[u8]) -> Option<String> {
    let length = i32::try_from(bytes.len()).ok().filter(|length| *length > 0)?;
    // No code page has characters of fewer bytes than units.
    let mut units = vec![0_u16; bytes.len()];
    // SAFETY: both lengths are those of what is pointed to.
    let written =
        unsafe { MultiByteToWideChar(page, MB_ERR_INVALID_CHARS, bytes.as_ptr(), length, units.as_mut_ptr(), length) };
    let written = usize::try_from(written).ok().filter(|written| *written > 0)?;
    Some(String::from_utf16_lossy(&units[..written]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_a_code_page_are_read() {
        // Of the Western ones, which is what there is without a choice.
        assert_eq!(decoded(1252, b"gr\xf6\xdfe").as_deref(), Some("gr\u{f6}\u{df}e"));
        assert_eq!(decoded(850, b"gr\x94\xe1e").as_deref(), Some("gr\u{f6}\u{df}e"));
        assert_eq!(decoded(1252, b""), None);
        assert_eq!(decoded(65001, b"\xff"), None);
    }
}
