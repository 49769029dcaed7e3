import IO
import Synchronization

/// A place for one process that evaluates the file; there are several, since a script may wait for DNS.
final class PACEngine: Sendable {
    struct State {
        var process: PACProcess?
        /// The file as the process has read it.
        var stamp: FileStamp?
    }

    /// Locked while the process is at work.
    let state = Mutex<State>(State())
}
