//! Files that are mapped into a process's memory: its libraries, and what it reads so. One that is can't be removed, though
//! no handle of it be open.

use std::collections::BTreeSet;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::path::PathBuf;

use windows_sys::Win32::System::Memory::{MEM_IMAGE, MEM_MAPPED, MEMORY_BASIC_INFORMATION, VirtualQueryEx};
use windows_sys::Win32::System::ProcessStatus::K32GetMappedFileNameW;

use super::paths::Roots;
use super::wide;

/// The mapped files in these folders. The process may be read.
#[must_use]
pub fn places(process: &OwnedHandle, roots: &Roots) -> BTreeSet<PathBuf> {
    let mut places = BTreeSet::new();
    let mut name = vec![0u16; 32 * 1024];
    let mut address = 0usize;
    let mut last = usize::MAX;
    while let Some(region) = region(process, address) {
        let base = region.AllocationBase as usize;
        if matches!(region.Type, MEM_IMAGE | MEM_MAPPED) && base != last {
            last = base;
            let room = u32::try_from(name.len()).unwrap_or(0);
            // SAFETY: the handle is open; the address is looked up in that process; the buffer has as many units as is said.
            let length =
                unsafe { K32GetMappedFileNameW(process.as_raw_handle(), region.BaseAddress, name.as_mut_ptr(), room) };
            places.extend(roots.place(&wide::text(&name[..length as usize])));
        }
        let Some(next) = (region.BaseAddress as usize).checked_add(region.RegionSize) else { break };
        if next <= address {
            break;
        }
        address = next;
    }
    places
}

/// The part of a process's memory that has this address; `None` behind the last.
fn region(process: &OwnedHandle, address: usize) -> Option<MEMORY_BASIC_INFORMATION> {
    let mut region = MEMORY_BASIC_INFORMATION::default();
    let size = size_of_val(&region);
    // SAFETY: the handle is open; the address is looked up in that process; the structure has the size that is said.
    let told = unsafe { VirtualQueryEx(process.as_raw_handle(), address as *const _, &raw mut region, size) };
    (told == size).then_some(region)
}
