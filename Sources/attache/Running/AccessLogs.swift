import IO
import Proxy
import Rules
import Synchronization
import Upstream

/// The access log's destinations. Each has one writer as long as the process lives, so that the lines of one file keep
/// their order over a reload.
enum AccessLogs {
    private static let logs = Mutex<[String: LogStream]>([:])
    private static let standardOutput = LogStream(to: LineWriter(.standardOutput) { report($0) })
    /// Reports go there as well: if it takes none, nobody can be told.
    static let standardError = LogStream(to: .standardError)

    /// The log of a destination; a file is opened, and opened anew if it was open.
    static func open(_ destination: Configuration.Log.Destination) throws(IOError) -> LogStream {
        switch destination {
        case .standardOutput: return standardOutput
        case .standardError: return standardError
        case .file(let path):
            let file = try OutputFile(appendingTo: path)
            return logs.withLock { logs in
                if let known = logs[path] {
                    known.replace(with: file)
                    return known
                }
                let log = LogStream(to: LineWriter(file) { report($0) })
                logs[path] = log
                return log
            }
        }
    }

    /// Says what becomes of lines, once each. Not from where they come: whoever writes one may hold the log.
    private static func report(_ change: LineWriter.Change) { BlockingPool.shared.submit { say(change) } }

    private static func say(_ change: LineWriter.Change) {
        switch change {
        case .failed(let reason): Console.report("the access log takes no lines, and they are lost: \(reason)")
        case .overtaxed: Console.report("the access log takes lines more slowly than they come, and some are lost")
        case .recovered(let lost): Console.report("the access log takes lines again; \(lost) were lost")
        }
    }
}
