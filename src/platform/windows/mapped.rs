//! Files that are mapped into a process's memory: its libraries, and what it reads so. One that is can't be removed, though
//! no handle of it be open.

use std::collections::BTreeSet;
use std::io;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::{Duration, Instant};

use windows_sys::Win32::System::Memory::{MEM_IMAGE, MEM_MAPPED, MEMORY_BASIC_INFORMATION, VirtualQueryEx};
use windows_sys::Win32::System::ProcessStatus::K32GetMappedFileNameW;

use super::paths::Roots;
use super::process::has_ended;
use super::wide;

/// How long an answer is waited for.
const LIMIT: Duration = Duration::from_secs(10);
/// How often it is looked whether a process that does not answer has ended.
const BEAT: Duration = Duration::from_millis(20);

/// The mapped files in these folders; none for a process that ends meanwhile. It may be read, and waited for.
///
/// Under Wine the process itself is made to answer, and one that ends just then never does: whoever asked would wait for
/// ever. So it is another thread that asks.
///
/// # Errors
///
/// If nobody can ask, or no answer comes.
pub fn places(process: &OwnedHandle, roots: &Roots) -> io::Result<BTreeSet<PathBuf>> {
    let (its, sought) = (process.try_clone()?, roots.clone());
    let (sender, answer) = channel();
    Builder::new().name("mapped".to_owned()).spawn(move || sender.send(ask(&its, &sought)))?;
    let asked = Instant::now();
    while asked.elapsed() < LIMIT {
        if let Ok(places) = answer.recv_timeout(BEAT) {
            return Ok(places);
        }
        if has_ended(process) {
            return Ok(BTreeSet::new());
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {} s", LIMIT.as_secs())))
}

fn ask(process: &OwnedHandle, roots: &Roots) -> BTreeSet<PathBuf> {
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
