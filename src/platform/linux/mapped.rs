//! Which files a process has mapped, asked of the kernel one by one where it can be (Linux 6.11): most are the same few
//! libraries in every process, and to write out a whole /proc/PID/maps costs more than all the other links together.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;

/// `struct procmap_query` of linux/fs.h.
#[repr(C)]
#[derive(Default)]
struct Query {
    size: u64,
    flags: u64,
    address: u64,
    start: u64,
    end: u64,
    vma_flags: u64,
    page_size: u64,
    offset: u64,
    inode: u64,
    device_major: u32,
    device_minor: u32,
    name_size: u32,
    build_id_size: u32,
    name_address: u64,
    build_id_address: u64,
}

/// `_IOWR('f', 17, struct procmap_query)`.
const PROCMAP_QUERY: libc::c_ulong = 0xc068_6611;
const COVERING_OR_NEXT: u64 = 0x10;
const FILE_BACKED: u64 = 0x20;

/// A file by device and inode.
type FileId = (u32, u32, u64);

/// Asks, and remembers what it was told of each file during one look.
pub struct Mapped {
    known: HashMap<FileId, bool>,
    name: Vec<u8>,
}

impl Mapped {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Self { known: HashMap::new(), name: vec![0; 4096 + 16] }
    }

    /// Whether one of the files that a process has mapped has a path of the wanted kind. `maps` is its /proc/PID/maps.
    ///
    /// # Errors
    ///
    /// `NOTTY` if this kernel can't be asked.
    pub fn any(&mut self, maps: impl AsFd, wanted: impl Fn(&[u8]) -> bool) -> Result<bool, Errno> {
        let maps = maps.as_fd();
        let mut address = 0;
        loop {
            let mut query = Query { address, ..Query::default() };
            match self.ask(maps, &mut query, false) {
                Ok(()) => {}
                Err(Errno::NOENT | Errno::SRCH) => return Ok(false),
                Err(error) => return Err(error),
            }
            let file = (query.device_major, query.device_minor, query.inode);
            let in_it = if let Some(known) = self.known.get(&file) {
                *known
            } else {
                let mut named = Query { address, ..Query::default() };
                self.ask(maps, &mut named, true)?;
                let length = (named.name_size as usize).saturating_sub(1).min(self.name.len());
                let in_it = wanted(&self.name[..length]);
                self.known.insert(file, in_it);
                in_it
            };
            if in_it {
                return Ok(true);
            }
            address = query.end;
        }
    }

    fn ask(&mut self, maps: impl AsFd, query: &mut Query, with_name: bool) -> Result<(), Errno> {
        query.size = size_of::<Query>() as u64;
        query.flags = COVERING_OR_NEXT | FILE_BACKED;
        if with_name {
            query.name_address = self.name.as_mut_ptr() as u64;
            query.name_size = u32::try_from(self.name.len()).unwrap_or(u32::MAX);
        }
        // SAFETY: the structure is the kernel's own, says its size, and names a buffer that outlives the call and has
        // the size that is told.
        let done = unsafe { libc::ioctl(maps.as_fd().as_raw_fd(), PROCMAP_QUERY, std::ptr::from_mut(query)) };
        if done == 0 { Ok(()) } else { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn the_program_that_runs_is_mapped_and_another_file_is_not() {
        let program = std::env::current_exe().expect("this program");
        let program = program.as_os_str().as_encoded_bytes();
        let maps = File::open("/proc/self/maps").expect("maps");
        let mut mapped = Mapped::new();
        match mapped.any(&maps, |path| path == program) {
            Err(Errno::NOTTY) => {}
            found => assert_eq!(found, Ok(true)),
        }
        match Mapped::new().any(&maps, |path| path == b"/nobody/has/this") {
            Err(Errno::NOTTY) => {}
            found => assert_eq!(found, Ok(false)),
        }
    }
}
