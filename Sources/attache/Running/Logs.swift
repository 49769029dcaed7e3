import Credentials
import IO
import Proxy
import Rules
import Synchronization
import Telemetry
import Upstream

/// The destinations of the log. Each has one stream as long as the process lives, so that the lines of a file keep
/// their order over a reload.
enum Logs {
    /// An open destination.
    struct Opened {
        let stream: LogStream
        /// The file; nil for the system's log.
        let file: OutputFile?

        /// Whether it is the same file as standard error, which then gets no copies of events.
        var isStandardError: Bool { file?.isSame(as: .standardError) ?? false }
        var isTerminal: Bool { file?.isTerminal ?? false }

        /// Whether to use colours: for terminals that can show them, unless the user does not want them (no-color.org).
        var hasColours: Bool {
            isTerminal && Environment.text(of: "NO_COLOR") == nil && Environment.value(of: "TERM") != "dumb"
        }
    }

    private static let streams = Mutex<[String: LogStream]>([:])
    private static let standardOutput = LogStream(to: LineWriter(OutputFile.standardOutput) { report($0) })
    /// Messages for the operator are also written there, so its failures are not reported.
    static let standardError = Opened(stream: LogStream(to: .standardError), file: .standardError)

    /// Opens the log of a destination; a file that is already open is opened again.
    static func open(_ destination: Configuration.Log.Destination) throws(IOError) -> Opened {
        switch destination {
        case .standardOutput: return Opened(stream: standardOutput, file: .standardOutput)
        case .standardError: return standardError
        case .file(let path):
            let file = try OutputFile(appendingTo: path)
            return Opened(stream: stream(of: path, to: file, behind: nil), file: file)
        case .syslog(let path):
            let header = SyslogHeader(process: LocalPeer.ownProcess)
            return Opened(stream: stream(of: path, to: SyslogSocket(path), behind: header), file: nil)
        }
    }

    private static func stream(of path: String, to sink: any LineWriter.Sink, behind header: SyslogHeader?) -> LogStream
    {
        streams.withLock { streams in
            if let known = streams[path] {
                known.replace(with: sink)
                return known
            }
            let stream = LogStream(to: LineWriter(sink) { report($0) }, behind: header)
            streams[path] = stream
            return stream
        }
    }

    /// Reports a change in the writing of lines, once.
    private static func report(_ change: LineWriter.Change) {
        let sentence =
            switch change {
            case .failed(let reason): "the access log cannot be written, and lines are lost: \(reason)"
            case .overtaxed: "the access log is too slow, and some lines are lost"
            case .recovered(let lost): "the access log works again; \(lost) lines were lost"
            }
        // The caller may hold the log's lock.
        BlockingPool.shared.submit { Console.report(sentence, as: .logTroubled) }
    }
}

extension Configuration.Log {
    /// The format. Without a setting, a terminal gets the format for people.
    private var usedFormat: Format { isSaid || !Terminal.isStandardOutput ? format : .console }

    /// Opens the log, again if it is already open.
    func open() throws(StartError) -> ServicePolicy.LogPolicy {
        var policy = ServicePolicy.LogPolicy()
        let format = usedFormat
        guard format != .off else {
            Console.share(withLog: false, forPeople: false)
            return policy
        }
        let opened: Logs.Opened
        do throws(IOError) { opened = try Logs.open(destination) } catch {
            throw StartError("the access log: \(error)")
        }
        if let exchanges = format.exchanges(inColours: opened.hasColours) {
            policy.writeExchanges(to: opened.stream, as: exchanges)
        }
        // The lines of other programs' formats have no room for events.
        let events = format.hasEvents || opened.file == nil ? opened : Logs.standardError
        let isForPeople = format == .console || !format.hasEvents && events.isTerminal
        policy.writeEvents(to: events.stream, as: isForPeople ? .console(hasColours: events.hasColours) : .json)
        Console.share(withLog: events.isStandardError, forPeople: isForPeople)
        return policy
    }

    /// The parts of an exchange's record that the log needs.
    var parts: ExchangeRecord.Parts { usedFormat.exchanges(inColours: false)?.parts ?? [] }
}

extension Configuration.Log.Format {
    /// The format of exchanges; nil if they are not logged.
    fileprivate func exchanges(inColours hasColours: Bool) -> AccessLogEncoder.Format? {
        switch self {
        case .json: .json
        case .common: .common
        case .combined: .combined
        case .squid: .squid
        case .console: .console(hasColours: hasColours)
        case .events, .off: nil
        }
    }

    fileprivate var hasEvents: Bool { self == .json || self == .console || self == .events }
}
