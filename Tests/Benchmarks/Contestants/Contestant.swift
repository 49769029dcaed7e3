/// A proxy that can be started: its command and its one file of configuration, for a port that is still to be chosen.
struct Contestant {
    let name: String
    let route: @Sendable (UInt16) -> Route
    let configuration: (_ port: UInt16, _ directory: String) -> String
    let command: (_ file: String) -> [String]

    /// How it is run, beyond being run.
    enum Instrument {
        case none
        /// Loads `allocations.c`, which counts into `counter`.
        case allocations(library: String, counter: String)
        /// Under callgrind, which writes `report` at the end.
        case instructions(report: String)
    }
}
